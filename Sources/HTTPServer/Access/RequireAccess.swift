import Hummingbird

/// Runs a route only for callers who may call it.
struct RequireAccess: RouterMiddleware {
    typealias Context = PushwatchContext

    let access: RouteAccess

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        try access.check(context.caller)
        return try await next(request, context)
    }
}
