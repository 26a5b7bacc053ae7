import Postgres
package import PushContract

/// A hold, and how much waits for its end.
package struct WaitingCircuit: Sendable, Hashable {
    package var id: Int64
    package var kind: CircuitKind
    package var provider: Provider
    package var app: String
    package var environment: PushEnvironment
    /// Nil = every platform.
    package var platform: Platform?
    /// The provider's code.
    package var cause: String
    package var since: Timestamp
    /// Nil while it holds.
    package var closedAt: Timestamp?
    package var waiting: Int64

    init(_ row: Row) throws {
        let (id, kind, provider, app, environment, platform, cause, since, closedAt, waiting) = try row.decode(
            (Int64, String, String, String, String, String, String, Timestamp, Timestamp?, Int64).self
        )
        self.id = id
        self.kind = try stored(kind)
        self.provider = try stored(provider)
        self.app = app
        self.environment = try stored(environment)
        self.platform = platform.isEmpty ? nil : try stored(platform)
        self.cause = cause
        self.since = since
        self.closedAt = closedAt
        self.waiting = waiting
    }
}
