package import HTTPTypes
package import Hummingbird

/// The router of the server, with everything that surrounds a route already in place.
///
/// From outside in: request id, metrics, problems, a proxy's sign-in, authentication, the route. Routes are added as to any Hummingbird router;
/// the application is built from this object, which then also knows the methods of each path (405).
package final class HTTPRouter: RouterMethods, HTTPResponderBuilder {
    package typealias Context = PushwatchContext

    private let router: Router<PushwatchContext>
    private let table = RouteTable()

    /// - Parameters:
    ///   - authentication: who is let in; without it every route is open (tests of single routes).
    ///   - proxy: whose header says who is signed in, if anybody's.
    ///   - translate: which errors of lower floors are which problems.
    package init(
        authentication: AuthenticationMiddleware? = nil,
        proxy: ProxySignIn? = nil,
        translate: @escaping ProblemTranslation = { _ in nil }
    ) {
        router = Router(context: PushwatchContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestIDMiddleware())
        router.add(middleware: RequestMetricsMiddleware())
        router.add(middleware: ProblemMiddleware(routes: table, translate: translate))
        if let proxy { router.add(middleware: proxy) }
        if let authentication { router.add(middleware: authentication) }
    }

    /// The routes added so far, for checking documents against the server.
    package var routes: [(method: HTTPRequest.Method, path: String)] {
        router.routes.map { ($0.method, $0.path.description) }
    }

    @discardableResult
    package func on<Responder: HTTPResponder>(_ path: RouterPath, method: HTTPRequest.Method, responder: Responder) -> Self
    where Responder.Context == PushwatchContext {
        router.on(path, method: method, responder: responder)
        return self
    }

    @discardableResult
    package func add(middleware: any MiddlewareProtocol<Request, Response, PushwatchContext>) -> Self {
        router.add(middleware: middleware)
        return self
    }

    package func buildResponder() -> RouterResponder<PushwatchContext> {
        table.fill(from: router)
        return router.buildResponder()
    }
}
