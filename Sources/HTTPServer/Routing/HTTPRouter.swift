package import HTTPTypes
package import Hummingbird

/// The routes of a server, with everything that surrounds a route already in place.
///
/// From outside in: request id, metrics, problems, faults of the protocol, 100 Continue, the request's deadline; then, for each route, the
/// route's own middleware, a proxy's sign-in, authentication, the check of its access, the caller's limit, and its handler. A route cannot
/// be added without saying who may call it.
package final class HTTPRouter: HTTPResponderBuilder {
    package typealias Handler<Output: ResponseGenerator> = @Sendable @concurrent (Request, PushwatchContext) async throws -> Output

    package struct Route: Sendable {
        package let method: HTTPRequest.Method
        package let path: String
        package let access: RouteAccess
        package let apps: RouteApps
    }

    /// The routes in the order they were added, for checking documents and access against the server.
    package private(set) var routes: [Route] = []

    private let router: Router<PushwatchContext>
    private let authentication: AuthenticationMiddleware?
    private let proxy: ProxySignIn?
    private let table = RouteTable()
    private let limit = RequestLimit()

    /// - Parameters:
    ///   - authentication: authenticates callers; without it only open routes can be called.
    ///   - proxy: whose header says who is signed in, if anybody's.
    ///   - translate: which errors of lower layers are which problems.
    package init(
        authentication: AuthenticationMiddleware? = nil,
        proxy: ProxySignIn? = nil,
        translate: @escaping ProblemTranslation = { _ in nil }
    ) {
        self.authentication = authentication
        self.proxy = proxy
        router = Router(context: PushwatchContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestIDMiddleware())
        router.add(middleware: RequestMetricsMiddleware())
        router.add(middleware: ProblemMiddleware(routes: table, translate: translate))
        router.add(middleware: ProtocolFaultMiddleware())
        router.add(middleware: ContinueMiddleware())
        router.add(middleware: WorkDeadlineMiddleware())
    }

    /// - Parameters:
    ///   - apps: whether a route that writes enforces a key's limit to apps; closed to such keys unless it says so.
    ///   - middleware: runs before a proxy's sign-in, authentication and the access check, so that it can answer their errors in its own
    ///     way.
    package func on(
        _ path: RouterPath,
        method: HTTPRequest.Method,
        _ access: RouteAccess,
        apps: RouteApps = .closed,
        middleware: [any MiddlewareProtocol<Request, Response, PushwatchContext>] = [],
        use handler: @escaping Handler<some ResponseGenerator>
    ) {
        let group = router.group()
        for layer in middleware { group.add(middleware: layer) }
        if let proxy { group.add(middleware: proxy) }
        if access != .open, let authentication { group.add(middleware: authentication) }
        if access != .open { group.add(middleware: RequireAccess(access: access, apps: apps)) }
        if access != .open { group.add(middleware: limit) }
        group.on(path, method: method, use: handler)
        routes.append(Route(method: method, path: path.description, access: access, apps: apps))
    }

    /// Runs for every request, before routes that are added later.
    package func add(middleware: any MiddlewareProtocol<Request, Response, PushwatchContext>) {
        router.add(middleware: middleware)
    }

    /// What answers requests whose path and method no route has, with 404 or 405; nil for those that get the problem document.
    package func onUnknownPath(_ answer: @escaping UnknownPathAnswer) { table.onUnknownPath(answer) }

    package func buildResponder() -> RouterResponder<PushwatchContext> {
        table.fill(from: router)
        return router.buildResponder()
    }
}

extension HTTPRouter {
    package func get(_ path: RouterPath, _ access: RouteAccess, use handler: @escaping Handler<some ResponseGenerator>) {
        on(path, method: .get, access, use: handler)
    }

    package func put(
        _ path: RouterPath,
        _ access: RouteAccess,
        apps: RouteApps = .closed,
        use handler: @escaping Handler<some ResponseGenerator>
    ) {
        on(path, method: .put, access, apps: apps, use: handler)
    }

    package func post(
        _ path: RouterPath,
        _ access: RouteAccess,
        apps: RouteApps = .closed,
        use handler: @escaping Handler<some ResponseGenerator>
    ) {
        on(path, method: .post, access, apps: apps, use: handler)
    }

    package func delete(
        _ path: RouterPath,
        _ access: RouteAccess,
        apps: RouteApps = .closed,
        use handler: @escaping Handler<some ResponseGenerator>
    ) {
        on(path, method: .delete, access, apps: apps, use: handler)
    }
}
