import Hummingbird
import ServiceKit

/// Gives each request its `WorkDeadline`: the database calls of its handler end by then, and the answer is 503 with `Retry-After`.
///
/// Below the 10 s within which every request is answered: a rollback and the answer itself come after it.
struct WorkDeadlineMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext

    private static let limit: Duration = .seconds(8)

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        try await WorkDeadline.$current.withValue(WorkDeadline(Self.limit)) { try await next(request, context) }
    }
}
