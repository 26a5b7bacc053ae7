package import Postgres
package import PushContract

/// A period that is excluded from the training of all baselines: an incident or a load test that a baseline would take for usual.
package struct ExcludedTime: Sendable, Hashable {
    package var from: Timestamp
    /// The first minute after it.
    package var to: Timestamp
    package var reason: String
    package var author: String

    package init(from: Timestamp, to: Timestamp, reason: String, author: String) {
        self.from = from
        self.to = to
        self.reason = reason
        self.author = author
    }
}

/// The table of excluded periods.
///
/// The days that a period touches are counted again, so an incident can be excluded days later. The evidence of alerts that have fired
/// stays as it is.
package enum ExclusionStore {
    /// False when the same period is excluded already.
    static func add(_ time: ExcludedTime, in transaction: PostgresTransaction) async throws -> Bool {
        let added = try await transaction.execute(
            """
            INSERT INTO alertBaselineExclusions (fromAt, toAt, reason, author)
            VALUES (\(time.from), \(time.to), \(time.reason), \(time.author)) ON CONFLICT DO NOTHING
            """
        )
        try await forget(time.from, time.to, in: transaction)
        return added == 1
    }

    /// Removes those that begin at `from`, and returns them.
    static func remove(from: Timestamp, in transaction: PostgresTransaction) async throws -> [ExcludedTime] {
        let removed = try await transaction.query(
            "DELETE FROM alertBaselineExclusions WHERE fromAt = \(from) RETURNING fromAt, toAt, reason, author"
        ).map(ExcludedTime.init(row:))
        for time in removed { try await forget(time.from, time.to, in: transaction) }
        return removed
    }

    /// The oldest first.
    package static func all(on session: any PostgresSession) async throws -> [ExcludedTime] {
        try await session.query("SELECT fromAt, toAt, reason, author FROM alertBaselineExclusions ORDER BY fromAt, toAt")
            .map(ExcludedTime.init(row:))
    }

    /// Stored days are dropped, of all strata alike; the next evaluation stores them again.
    private static func forget(_ from: Timestamp, _ to: Timestamp, in transaction: any PostgresSession) async throws {
        try await transaction.execute(
            """
            DELETE FROM alertBaselineDays
            WHERE day >= (\(from)::timestamptz AT TIME ZONE 'UTC')::date AND day AT TIME ZONE 'UTC' < \(to)
            """
        )
    }
}

extension ExcludedTime {
    fileprivate init(row: Row) throws {
        let (from, to, reason, author) = try row.decode((Timestamp, Timestamp, String, String).self)
        self.init(from: from, to: to, reason: reason, author: author)
    }
}
