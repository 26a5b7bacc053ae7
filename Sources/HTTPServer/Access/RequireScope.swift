package import Hummingbird

/// Guards a group of routes: only callers with the scope get through.
package struct RequireScope: RouterMiddleware {
    package typealias Context = PushwatchContext

    private let scope: Scope

    package init(_ scope: Scope) { self.scope = scope }

    package func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        try context.require(scope)
        return try await next(request, context)
    }
}

/// Guards a group of routes: only app users get through.
package struct RequireUser: RouterMiddleware {
    package typealias Context = PushwatchContext

    package init() {}

    package func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        _ = try context.requireUser()
        return try await next(request, context)
    }
}
