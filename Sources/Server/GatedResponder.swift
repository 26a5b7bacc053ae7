import HTTPServer
import HTTPTypes
import Hummingbird
import Synchronization

/// Answers with the small router until the whole one can be built, which takes the database.
final class GatedResponder: HTTPResponder {
    typealias Context = PushwatchContext

    private let current: Mutex<any HTTPResponder<PushwatchContext>>

    init(starting: any HTTPResponder<PushwatchContext>) { current = Mutex(starting) }

    func open(_ responder: any HTTPResponder<PushwatchContext>) { current.withLock { $0 = responder } }

    func respond(to request: Request, context: PushwatchContext) async throws -> Response {
        try await current.withLock { $0 }.respond(to: request, context: context)
    }
}

/// While the database is away at the start, everything but health is 503.
struct StartupMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        if context.isUnrouted { throw Problem.unavailable("Pushwatch is starting: it waits for its database.", retryAfter: .seconds(2)) }
        return try await next(request, context)
    }
}
