package import Audit
package import Foundation
package import Postgres
package import PushContract

/// One try at delivering, as it is stored.
package struct NotificationAttemptRecord: Sendable, Hashable {
    package var receiver: String
    package var kind: String
    /// delivered, retry, deadLettered or undelivered.
    package var result: String
    package var attemptedAt: Timestamp
    /// HTTP status; nil when there was no answer, or no HTTP.
    package var status: Int?
    package var latencyMs: Int
    package var responsePrefix: String?
    package var error: String?
}

/// The state of a notification.
package struct NotificationRecord: Sendable, Hashable {
    package var receiver: String
    package var kind: String
    /// pending, delivered, deadLettered, superseded or undelivered.
    package var state: String
    package var attempts: Int
    package var nextAttemptAt: Timestamp
    package var lastError: String?
}

/// Reads what was delivered, for the page and the routes.
package enum NotificationHistory {
    /// Every try for an alert, oldest first; at most `limit`, the newest.
    package static func notificationAttempts(
        of id: UUID,
        limit: Int = 200,
        on session: any PostgresSession
    ) async throws -> [NotificationAttemptRecord] {
        try await session.query(
            """
            SELECT * FROM (
                SELECT d.receiver, t.kind, d.result, d.attemptedAt, d.status, d.latencyMs, d.responsePrefix, d.error
                FROM notificationAttempts d JOIN alertTransitions t USING (alertId, seq)
                WHERE d.alertId = \(id) ORDER BY d.notificationAttemptId DESC LIMIT \(limit)
            ) newest ORDER BY attemptedAt
            """
        ).map {
            let (receiver, kind, result, at, status, latency, prefix, error) = try $0.decode(
                (String, String, String, Timestamp, Int?, Int, String?, String?).self
            )
            return NotificationAttemptRecord(
                receiver: receiver,
                kind: kind,
                result: result,
                attemptedAt: at,
                status: status,
                latencyMs: latency,
                responsePrefix: prefix,
                error: error
            )
        }
    }

    /// What a receiver refused waits again, whatever the number of tries, with an entry in the audit unless nothing does. Returns how many
    /// messages do.
    package static func retry(_ receiver: String, recording audit: AuditRecorder, on pool: PostgresPool) async throws -> Int {
        try await pool.withTransaction { transaction in
            let count = try await NotificationStore.retry(receiver, isForced: true, now: audit.now, in: transaction)
            guard count > 0 else { return 0 }
            try await audit.note(.retryReceiver, receiver, "\(count) notifications", after: ["retried": count], on: transaction)
            return count
        }
    }

    /// Each receiver's messages, in order.
    package static func notifications(of id: UUID, on session: any PostgresSession) async throws -> [NotificationRecord] {
        try await session.query(
            """
            SELECT receiver, kind, state, attempts, nextAttemptAt, lastError
            FROM notifications WHERE alertId = \(id) ORDER BY receiver, seq
            """
        ).map {
            let (receiver, kind, state, attempts, next, error) = try $0.decode((String, String, String, Int, Timestamp, String?).self)
            return NotificationRecord(
                receiver: receiver,
                kind: kind,
                state: state,
                attempts: attempts,
                nextAttemptAt: next,
                lastError: error
            )
        }
    }
}
