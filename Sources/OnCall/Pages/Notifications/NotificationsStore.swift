import Postgres
import PushContract

/// Reads the latest notification attempts, and the notifications that are still due.
struct NotificationsStore: Sendable {
    private let pool: PostgresPool

    init(pool: PostgresPool) { self.pool = pool }

    func read() async throws -> NotificationsData {
        NotificationsData(tries: try await tries(), open: try await open())
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

    private func open() async throws -> [NotificationsData.PendingNotification] {
        try await pool.query(
            """
            SELECT outbox.alertId::text, alert.rule, receiver, kind, outbox.state, attempts, nextAttemptAt, lastError
            FROM notifications AS outbox JOIN alerts AS alert USING (alertId)
            WHERE outbox.state IN ('pending', 'deadLettered') ORDER BY outbox.createdAt DESC LIMIT 100
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
    var open: [PendingNotification]
}
