/// Who makes a request.
package enum Caller: Sendable, Hashable {
    /// A service with an API key, which may be limited to some apps.
    case key(id: String, name: String, scopes: Set<Scope>, apps: KeyApps = .all)
    /// An app's user, from a verified JWT; `userId` is its `sub`.
    case user(userId: String)
    /// An app without a session, with the secret of one device's registration: it may unregister that device and nothing else.
    case deviceSecret(hash: [UInt8])
    /// A person on the on-call page; `keyId` is the key the session was opened with, nil where a proxy signed them in.
    case session(id: String, keyId: String?, name: String, scopes: Set<Scope>)

    /// App users have none: what they may do follows from whose data it is.
    package var scopes: Set<Scope> {
        switch self {
        case .key(_, _, let scopes, _), .session(_, _, _, let scopes): scopes
        case .user, .deviceSecret: []
        }
    }

    /// The apps it may write for: handlers of routes with `RouteApps.checked` refuse what concerns another.
    package var apps: KeyApps {
        if case .key(_, _, _, let apps) = self { apps } else { .all }
    }

    package var userId: String? {
        if case .user(let userId) = self { userId } else { nil }
    }

    /// For logs and for "who acknowledged": the name of a key, of a person with what vouches for it, the user id for users.
    package var name: String {
        switch self {
        case .key(_, let name, _, _), .session(_, _, let name, _): name
        case .user(let userId): userId
        case .deviceSecret: "device secret"
        }
    }
}
