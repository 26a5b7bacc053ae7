import HTTPTypes
import Hummingbird
import Synchronization

/// Which methods a path has; asked only when the router found no route, so a plain search will do.
///
/// Filled once, when the router is built. Safe to share.
final class RouteTable: Sendable {
    private struct Route: Sendable {
        var path: RouterPath
        var methods: Set<HTTPRequest.Method>
    }

    private let routes = Mutex<[Route]>([])

    /// Replaces the table with the routes of this router.
    func fill(from router: Router<some RequestContext>) {
        let byPath = Dictionary(grouping: router.routes, by: \.path.description)
        let routes = byPath.values.map { Route(path: $0[0].path, methods: Set($0.map(\.method))) }
        self.routes.withLock { $0 = routes }
    }

    /// 405 for a path that has other methods; nil for one that has none.
    func wrongMethod(_ request: Request) -> Problem? {
        let allowed = methods(for: request.uri.path)
        return allowed.isEmpty ? nil : .methodNotAllowed(request.method, allowed: allowed)
    }

    /// The methods of the most specific route that matches the path, in alphabetical order; empty when none does.
    func methods(for path: String) -> [HTTPRequest.Method] {
        let parts = path.split(separator: "/")
        let best = routes.withLock { routes in
            routes.filter { Self.matches($0.path, parts) }.max { Self.rank($0.path) < Self.rank($1.path) }
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
