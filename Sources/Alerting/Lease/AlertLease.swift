package import Postgres

/// An exclusive claim to evaluate or to deliver. Valid until another holder takes it over.
package struct AlertLease: Sendable, Hashable {
    package let name: String
    package let holder: String
    /// The fencing number: every commit checks that it is unchanged.
    package let epoch: Int64
}

/// A replaced holder tried to write; nothing was changed.
package struct LeaseLost: Error, Sendable, CustomStringConvertible {
    package let lease: AlertLease
    package var description: String { "the lease '\(lease.name)' (epoch \(lease.epoch)) was taken over" }
}

/// Leases by the database's clock, so that clocks of machines may differ.
package enum AlertLeaseStore {
    /// Takes the lease, or extends it when it is already ours; nil while another holder's lease is valid.
    ///
    /// A lease that ran out gets a new epoch even for its old holder: another holder may have worked in between.
    package static func claim(
        _ name: String,
        holder: String,
        for duration: Duration,
        on session: any PostgresSession
    ) async throws -> AlertLease? {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let rows = try await session.query(
            """
            INSERT INTO alertLeases AS l (name, holder, epoch, expiresAt)
            VALUES (\(name), \(holder), 1, clock_timestamp() + make_interval(secs => \(seconds)))
            ON CONFLICT (name) DO UPDATE SET
                holder = excluded.holder,
                epoch = l.epoch + CASE WHEN l.holder = excluded.holder AND l.expiresAt > clock_timestamp() THEN 0 ELSE 1 END,
                expiresAt = excluded.expiresAt
            WHERE l.holder = excluded.holder OR l.expiresAt <= clock_timestamp()
            RETURNING epoch
            """
        )
        return try rows.first.map { AlertLease(name: name, holder: holder, epoch: try $0.decode(Int64.self)) }
    }

    /// Lets the next holder begin at once.
    package static func release(_ lease: AlertLease, on session: any PostgresSession) async throws {
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
    package static func fence(_ lease: AlertLease, in transaction: any PostgresSession) async throws {
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
