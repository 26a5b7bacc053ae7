import Postgres
import PushContract

/// The database's clock: read once, and continued by this machine's monotonic clock. The machine's wall clock has no part in it, so
/// instances whose wall clocks differ agree about what is due.
struct DatabaseClock: Sendable, Hashable {
    private let read: Timestamp
    private let readAt = ContinuousClock.now

    /// `read`: what the database's clock shows now.
    init(_ read: Timestamp) { self.read = read }

    /// Behind by the time that the answer of the database took.
    var now: Timestamp { read + (ContinuousClock.now - readAt) }

    static func read(on session: any PostgresSession) async throws -> Timestamp {
        try await session.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
    }
}
