import Postgres
import PushContract

/// An exclusive claim to evaluate or to deliver. Valid until another holder takes it over.
package struct AlertLease: Sendable, Hashable {
    package let name: String
    package let holder: String
    /// The fencing number: every commit checks that it is unchanged.
    package let epoch: Int64
    /// The database's clock, as read when it was taken or extended; nil of a lease that was not claimed.
    var clock: DatabaseClock?

    /// The time by which its holder decides: `simulated`, or else the database's.
    func now(_ simulated: (@Sendable () -> Timestamp)?) -> Timestamp { simulated?() ?? clock?.now ?? .now() }
}

/// A former holder tried to write; nothing was changed.
struct LeaseLost: Error, Sendable, CustomStringConvertible {
    let lease: AlertLease
    var description: String { "the lease '\(lease.name)' (epoch \(lease.epoch)) was taken over" }
}

/// Leases expire by the database's clock alone.
enum AlertLeaseStore {
    private static let row = RowLease(owner: "holder", until: "expiresAt", epoch: "epoch", table: "l")

    /// Takes the lease, or extends it when it is already ours; nil while another holder's lease is valid.
    ///
    /// A lease that ran out gets a new epoch even for its old holder: another holder may have worked in between.
    static func claim(
        _ name: String,
        holder: String,
        for duration: Duration,
        on session: any PostgresSession
    ) async throws -> AlertLease? {
        let rows = try await session.query(
            """
            INSERT INTO alertLeases AS l (name, holder, epoch, expiresAt) VALUES (\(name), \(holder), 1, \(RowLease.end(of: duration)))
            ON CONFLICT (name) DO UPDATE SET \(row.assign(to: holder, for: duration)) WHERE \(row.isAvailable(to: holder))
            RETURNING epoch, clock_timestamp()
            """
        )
        return try rows.first.map {
            let (epoch, now) = try $0.decode((Int64, Timestamp).self)
            return AlertLease(name: name, holder: holder, epoch: epoch, clock: DatabaseClock(now))
        }
    }

    /// Lets the next holder begin at once.
    static func release(_ lease: AlertLease, on session: any PostgresSession) async throws {
        try await session.execute(
            """
            UPDATE alertLeases SET expiresAt = clock_timestamp()
            WHERE name = \(lease.name) AND holder = \(lease.holder) AND epoch = \(lease.epoch)
            """
        )
    }

    /// Throws `LeaseLost` unless the epoch is current, and keeps it current until this transaction ends.
    ///
    /// The row stays locked, so a takeover waits for our commit and then sees what we wrote.
    static func fence(_ lease: AlertLease, in transaction: any PostgresSession) async throws {
        let rows = try await transaction.query(
            """
            SELECT epoch FROM alertLeases
            WHERE name = \(lease.name) AND holder = \(lease.holder) AND epoch = \(lease.epoch)
            FOR NO KEY UPDATE
            """
        )
        guard !rows.isEmpty else { throw LeaseLost(lease: lease) }
    }
}
