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
    /// Right to about a minute.
    package var lastUsedAt: Timestamp?
    package var revokedAt: Timestamp?

    package var isActive: Bool { revokedAt == nil }
}
