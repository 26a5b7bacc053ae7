import Hummingbird
import ServiceKit

/// Gives each request its `WorkDeadline`: the database calls of its handler end by then, and the answer is 503 with `Retry-After`.
struct WorkDeadlineMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        try await WorkDeadline.$current.withValue(WorkDeadline(WorkDeadline.requestLimit)) { try await next(request, context) }
    }
}
