package import HTTPServer
package import PushContract

/// An API key as it is stored: everything but its secret.
package struct APIKey: Sendable, Equatable {
    package var id: String
    package var name: String
    package var scopes: Set<Scope>
    /// Requests a minute at each server; nil for no limit.
    package var quotaPerMinute: Int?
    package var createdAt: Timestamp
    package var createdBy: String
    /// The apps it may write for.
    package var apps = KeyApps.all
    /// From then on it is refused; nil for never.
    package var expiresAt: Timestamp?
    /// The older key that it was made for, by rotation.
    package var replaces: String?
    /// Right to about a minute.
    package var lastUsedAt: Timestamp?
    package var revokedAt: Timestamp?

    /// What it is worth.
    package enum State: Sendable, Equatable {
        case active
        case expired(at: Timestamp)
        case revoked(at: Timestamp)
    }

    /// A revoked key stays revoked, whether or not it would have expired since.
    package func state(at now: Timestamp) -> State {
        if let revokedAt { return .revoked(at: revokedAt) }
        if let expiresAt, expiresAt <= now { return .expired(at: expiresAt) }
        return .active
    }

    /// Whether sessions act with it. A key that is limited to apps has none: what people do on the pages concerns all apps.
    func hasSessions(at now: Timestamp) -> Bool { state(at: now) == .active && apps == .all }
}
