package import Audit
import HTTPServer
package import Postgres
package import PushContract

/// How far each webhook has come in the stream of outcomes. One instance at a time sends for a webhook, by a lease on its row.
package struct OutcomeWebhookStore: Sendable {
    /// How long an instance that does not come back keeps the others from sending. Longer than a request.
    static let lease = Duration.seconds(30)

    private static let columns = RowLease(owner: "owner", until: "leaseUntil", epoch: "epoch", table: "w")

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// A webhook's position, as the holder of its lease may change it.
    struct Position: Sendable {
        var epoch: Int64
        var cursor: OutcomeCursor
        var failures: Int
        var failingSince: Timestamp?
        var nextAttemptAt: Timestamp
        /// By the database's clock.
        var now: Timestamp
    }

    /// Takes the lease of a webhook, or extends it; nil while another instance has it. A new webhook begins at the end of the stream.
    func claim(_ name: String, holder: String, end: OutcomeCursor) async throws -> Position? {
        try await pool.execute(
            """
            INSERT INTO pushOutcomeWebhooks (name, number, index) VALUES (\(name), \(end.number), \(end.index)) ON CONFLICT (name) DO NOTHING
            """
        )
        let rows = try await pool.query(
            """
            UPDATE pushOutcomeWebhooks w SET \(Self.columns.assign(to: holder, for: Self.lease))
            WHERE name = \(name) AND \(Self.columns.isAvailable(to: holder))
            RETURNING epoch, number, index, failures, failingSince, nextAttemptAt, clock_timestamp()
            """
        )
        return try rows.first.map { row in
            let values = try row.decode((Int64, Int64, Int64, Int32, Timestamp?, Timestamp, Timestamp).self)
            return Position(
                epoch: values.0,
                cursor: OutcomeCursor(number: values.1, index: values.2),
                failures: Int(values.3),
                failingSince: values.4,
                nextAttemptAt: values.5,
                now: values.6
            )
        }
    }

    /// Moves on to `cursor`. False when another instance has the lease, the position was changed, or the database failed over and does not
    /// have the outcomes up to there: nothing is written then.
    ///
    /// - Parameters:
    ///   - delivered: something was sent on the way.
    ///   - skipped: the outcomes on the way were refused; how many and why.
    func advance(
        _ name: String,
        _ position: Position,
        to cursor: OutcomeCursor,
        delivered: Bool,
        skipped: (count: Int, error: String)? = nil
    ) async throws -> Bool {
        try await pool.performTransaction { connection in
            let changed = try connection.execute(
                """
                UPDATE pushOutcomeWebhooks SET number = \(cursor.number), index = \(cursor.index), failures = 0, failingSince = NULL,
                    lastError = CASE WHEN \(skipped == nil) THEN NULL ELSE lastError END,
                    deliveredAt = CASE WHEN \(delivered) THEN clock_timestamp() ELSE deliveredAt END
                WHERE name = \(name) AND epoch = \(position.epoch) AND \(Self.isNumbered(cursor))
                """
            )
            guard changed == 1, let skipped else { return changed == 1 }
            try connection.execute(
                """
                INSERT INTO pushOutcomeWebhookDeadLetters (name, afterNumber, afterIndex, number, index, outcomes, error)
                VALUES (\(name), \(position.cursor.number), \(position.cursor.index), \(cursor.number), \(cursor.index), \(skipped.count),
                    \(skipped.error))
                """
            )
            return true
        }
    }

    /// There is nothing to send up to `cursor`.
    func note(_ name: String, _ position: Position, searchedTo cursor: OutcomeCursor) async throws {
        try await pool.execute(
            """
            UPDATE pushOutcomeWebhooks SET number = \(cursor.number), index = \(cursor.index)
            WHERE name = \(name) AND epoch = \(position.epoch) AND \(Self.isNumbered(cursor))
            """
        )
    }

    /// Stays where it is.
    func fail(_ name: String, _ position: Position, error: String, failingSince: Timestamp, nextAttemptAt: Timestamp) async throws {
        try await pool.execute(
            """
            UPDATE pushOutcomeWebhooks SET failures = failures + 1, failingSince = \(failingSince), nextAttemptAt = \(nextAttemptAt),
                lastError = \(error)
            WHERE name = \(name) AND epoch = \(position.epoch)
            """
        )
    }

    /// Gives up the lease of a webhook, if `holder` has it.
    func release(_ name: String, holder: String) async throws {
        try await pool.execute("UPDATE pushOutcomeWebhooks SET owner = NULL, leaseUntil = NULL WHERE name = \(name) AND owner = \(holder)")
    }

    /// All webhooks that have ever sent.
    package func all() async throws -> [OutcomeWebhookStatus] {
        try await pool.query(Self.statuses(where: "true")).map(OutcomeWebhookStatus.init)
    }

    /// Sends again what is behind `cursor`, with an entry in the audit. What the webhook was before and is now; nil when there is none of
    /// this name. Throws a `Problem` for a cursor ahead of the webhook: what is between would be sent never.
    package func replay(
        _ name: String,
        after cursor: OutcomeCursor,
        recording audit: AuditRecorder
    ) async throws -> (before: OutcomeWebhookStatus, after: OutcomeWebhookStatus)? {
        try await pool.performTransaction { connection in
            let rows = try connection.query("\(Self.statuses(where: "w.name = \(name)")) FOR UPDATE OF w")
            guard let before = try rows.first.map(OutcomeWebhookStatus.init) else { return nil }
            guard OutcomeCursor(before.cursor).map({ cursor <= $0 }) ?? true else {
                throw Problem.invalid(
                    "\(cursor.text) is ahead of \(name), which is at \(before.cursor): the outcomes between would not be sent. Replay after "
                        + "\(before.cursor) or an earlier cursor.",
                    pointer: "/after"
                )
            }
            // A holder that is sending right now writes nothing any more.
            try connection.execute(
                """
                UPDATE pushOutcomeWebhooks SET number = \(cursor.number), index = \(cursor.index), failures = 0, failingSince = NULL,
                    nextAttemptAt = clock_timestamp(), epoch = epoch + 1, owner = NULL, leaseUntil = NULL
                WHERE name = \(name)
                """
            )
            let after = try OutcomeWebhookStatus(try connection.query(Self.statuses(where: "w.name = \(name)"))[0])
            try audit.note(.replayWebhook, name, "after \(cursor.text)", before: before, after: after, on: connection)
            return (before, after)
        }
    }

    /// Condition: not ahead of the outcomes. A process may have read them from the primary before a failover.
    private static func isNumbered(_ cursor: OutcomeCursor) -> Query {
        "\(cursor.number) <= (SELECT lastNumber FROM pushOutcomeNumbers)"
    }

    private static func statuses(where condition: Query) -> Query {
        """
        SELECT w.name, w.number, w.index, w.failures, w.failingSince, CASE WHEN w.failures > 0 THEN w.nextAttemptAt END, w.lastError,
            w.deliveredAt, (SELECT o.writtenAt FROM pushOutcomes o WHERE o.number > w.number ORDER BY o.number LIMIT 1),
            (SELECT coalesce(sum(d.outcomes), 0)::bigint FROM pushOutcomeWebhookDeadLetters d WHERE d.name = w.name),
            (SELECT d.afterNumber || '-' || d.afterIndex FROM pushOutcomeWebhookDeadLetters d WHERE d.name = w.name ORDER BY d.deadAt DESC LIMIT 1)
        FROM pushOutcomeWebhooks w WHERE \(condition) ORDER BY w.name
        """
    }
}

/// How far a webhook has come, and what is wrong.
package struct OutcomeWebhookStatus: Encodable, Sendable {
    package var name: String
    /// The outcome that was sent last.
    package var cursor: String
    /// When the oldest outcome was written that was not looked at yet.
    package var waitingSince: Timestamp?
    /// In a row.
    package var failures: Int
    package var failingSince: Timestamp?
    package var nextAttemptAt: Timestamp?
    package var lastError: String?
    package var deliveredAt: Timestamp?
    /// Outcomes that were left out after being refused for a day.
    package var deadLettered: Int
    /// Where to replay from to send the last of them again.
    package var deadLetteredAfter: String?

    init(_ row: Row) throws {
        let values = try row.decode(
            (String, Int64, Int64, Int32, Timestamp?, Timestamp?, String?, Timestamp?, Timestamp?, Int, String?).self
        )
        name = values.0
        cursor = OutcomeCursor(number: values.1, index: values.2).text
        failures = Int(values.3)
        failingSince = values.4
        nextAttemptAt = values.5
        lastError = values.6
        deliveredAt = values.7
        waitingSince = values.8
        deadLettered = values.9
        deadLetteredAfter = values.10
    }
}
