/// Who may call a route. Every route states it where it is added; there is no default.
package enum RouteAccess: Sendable, Hashable, CustomStringConvertible {
    /// Anyone, without credentials.
    case open
    /// API keys and sessions with this scope.
    case scope(Scope)
    /// App users.
    case user
    /// App users; API keys and sessions with this scope.
    case userOrScope(Scope)
    /// App users; an app without a session that has the secret of one device.
    case userOrDeviceSecret

    /// Throws 401 without a caller, and 403 when the caller may not call the route.
    func check(_ caller: Caller?) throws(Problem) {
        if self == .open { return }
        guard let caller else { throw .unauthenticated() }
        switch (self, caller) {
        case (.user, .user), (.userOrScope, .user), (.userOrDeviceSecret, .user), (.userOrDeviceSecret, .deviceSecret): return
        case (.scope(let scope), _), (.userOrScope(let scope), _):
            guard caller.scopes.contains(scope) else { throw .missingScope(scope) }
        default: throw .userRequired()
        }
    }

    package var description: String {
        switch self {
        case .open: "open"
        case .scope(let scope): scope.rawValue
        case .user: "user"
        case .userOrScope(let scope): "user or \(scope.rawValue)"
        case .userOrDeviceSecret: "user or device secret"
        }
    }
}
