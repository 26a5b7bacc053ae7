import HTTPTypes
package import Hummingbird
import Synchronization

/// What answers a request whose path and method no route has; nil for those that get the problem document.
package typealias UnknownPathAnswer = @Sendable (Request, PushwatchContext, Problem) -> Response?

/// Which methods a path has; asked only when the router found no route, so a plain search will do.
///
/// Filled while the router is built. Safe to share.
final class RouteTable: Sendable {
    private struct Route: Sendable {
        var path: RouterPath
        var methods: Set<HTTPRequest.Method>
    }

    private struct State {
        var routes: [Route] = []
        var unknownPath: UnknownPathAnswer?
    }

    private let state = Mutex(State())

    /// Replaces the table with the routes of this router.
    func fill(from router: Router<some RequestContext>) {
        let byPath = Dictionary(grouping: router.routes, by: \.path.description)
        let routes = byPath.values.map { Route(path: $0[0].path, methods: Set($0.map(\.method))) }
        state.withLock { $0.routes = routes }
    }

    func onUnknownPath(_ answer: @escaping UnknownPathAnswer) { state.withLock { $0.unknownPath = answer } }

    /// Nil where the problem document is the answer.
    func unknownPath(_ request: Request, _ context: PushwatchContext, _ problem: Problem) -> Response? {
        state.withLock { $0.unknownPath }?(request, context, problem)
    }

    /// 405 for a path that has other methods; nil for one that has none.
    func wrongMethod(_ request: Request) -> Problem? {
        let allowed = methods(for: request.uri.path)
        return allowed.isEmpty ? nil : .methodNotAllowed(request.method, allowed: allowed)
    }

    /// The methods of the most specific route that matches the path, in alphabetical order; empty when none does.
    func methods(for path: String) -> [HTTPRequest.Method] {
        let parts = path.split(separator: "/")
        let best = state.withLock { state in
            state.routes.filter { Self.matches($0.path, parts) }.max { Self.rank($0.path) < Self.rank($1.path) }
        }
        guard let best else { return [] }
        var methods = best.methods
        if methods.contains(.get) { methods.insert(.head) }
        return methods.sorted { $0.rawValue < $1.rawValue }
    }

    private static func matches(_ path: RouterPath, _ parts: [Substring]) -> Bool {
        for (index, element) in path.components.enumerated() {
            if element == .recursiveWildcard { return true }
            guard index < parts.count, element ~= parts[index] else { return false }
        }
        return path.components.count == parts.count
    }

    /// More literal parts win, as in the router.
    private static func rank(_ path: RouterPath) -> Int {
        path.components.count { !$0.description.contains(where: { $0 == "{" || $0 == "*" }) }
    }
}
