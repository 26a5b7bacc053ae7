import Hummingbird

/// Runs a route only for callers who may call it, and one that writes only for keys whose limit to apps it enforces.
struct RequireAccess: RouterMiddleware {
    typealias Context = PushwatchContext

    let access: RouteAccess
    let apps: RouteApps

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        try access.check(context.caller)
        if apps == .closed, ![.get, .head].contains(request.method), let names = context.caller?.apps.names {
            throw Problem.closedToLimitedKeys(names)
        }
        return try await next(request, context)
    }
}
