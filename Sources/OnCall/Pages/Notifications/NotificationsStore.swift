import Postgres
import PushContract

/// Reads the latest notification attempts, the notifications that are still due, and those of the last day that were not delivered.
struct NotificationsStore: Sendable {
    private let pool: PostgresPool

    init(pool: PostgresPool) { self.pool = pool }

    func read(now: Timestamp) async throws -> NotificationsData {
        let missing = NowQueries.undeliveredNotifications(since: now - .seconds(86_400))
        let (waiting, refused, givenUp) = try await pool.query(
            """
            SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'deadLettered'),
                count(*) FILTER (WHERE state = 'undelivered')
            FROM notifications AS outbox WHERE \(missing)
            """
        )[0].decode((Int, Int, Int).self)
        return NotificationsData(
            tries: try await tries(),
            open: try await open(missing),
            waiting: waiting,
            refused: refused,
            givenUp: givenUp
        )
    }

    private func tries() async throws -> [NotificationsData.AttemptEntry] {
        try await pool.query(
            """
            SELECT delivery.alertId::text, alert.rule, receiver, result, attemptedAt, status, latencyMs, error
            FROM (SELECT * FROM notificationAttempts ORDER BY notificationAttemptId DESC LIMIT 100) AS delivery
            LEFT JOIN alerts AS alert USING (alertId)
            ORDER BY notificationAttemptId DESC
            """
        ).map { row in
            let values = try row.decode((String, String?, String, String, Timestamp, Int?, Int, String?).self)
            return NotificationsData.AttemptEntry(
                alertId: values.0,
                rule: values.1,
                receiver: values.2,
                result: values.3,
                attemptedAt: values.4,
                status: values.5,
                latencyMs: values.6,
                error: values.7
            )
        }
    }

    /// Those that are not retried first; those that wait may still be delivered.
    private func open(_ missing: Query) async throws -> [NotificationsData.PendingNotification] {
        try await pool.query(
            """
            SELECT outbox.alertId::text, alert.rule, receiver, kind, outbox.state, attempts, nextAttemptAt, lastError
            FROM notifications AS outbox JOIN alerts AS alert USING (alertId)
            WHERE \(missing) ORDER BY outbox.state = 'pending', outbox.createdAt DESC LIMIT 100
            """
        ).map { row in
            let values = try row.decode((String, String, String, String, String, Int, Timestamp, String?).self)
            return NotificationsData.PendingNotification(
                alertId: values.0,
                rule: values.1,
                receiver: values.2,
                kind: values.3,
                state: values.4,
                attempts: values.5,
                nextAttemptAt: values.6,
                error: values.7
            )
        }
    }
}

/// The notifications, as the page shows them.
struct NotificationsData {
    struct AttemptEntry: Hashable {
        var alertId: String
        var rule: String?
        var receiver: String
        var result: String
        var attemptedAt: Timestamp
        var status: Int?
        var latencyMs: Int
        var error: String?
    }

    /// A message that was not delivered yet, or never will be.
    struct PendingNotification: Hashable {
        var alertId: String
        var rule: String
        var receiver: String
        var kind: String
        var state: String
        var attempts: Int
        var nextAttemptAt: Timestamp
        var error: String?
    }

    var tries: [AttemptEntry]
    /// At most 100 of those that are counted below.
    var open: [PendingNotification]
    var waiting: Int
    /// Of the last day.
    var refused: Int
    var givenUp: Int
}
