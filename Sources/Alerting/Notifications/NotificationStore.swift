import AlertRules
import Foundation
import Postgres
import PushContract

/// The outbox: one ordered order key per alert and receiver.
enum NotificationStore {
    /// Of a message for `e`, an alert, and `t`, one of its transitions; after its receiver and its number.
    static let messageColumns = """
        e.alertId, t.kind, e.rule, e.ruleVersion, e.severity, e.labels, e.groupLabels, t.annotations, t.evidence, e.startsAt,
        e.firedAt, e.endsAt, e.resolvedAt, e.resolvedReason, e.detectedLateBySeconds, e.contributors, e.backlog, e.reproduceSql, e.revised,
        e.affected,
        e.acknowledgedBy
        """

    /// Condition: nothing of a notification was sent. One that was claimed may have arrived, although its notifier did not record it.
    static let isUnsent: Query = "attempts = 0 AND leaseEpoch IS NULL"

    /// Condition on `o`, a notification, and `e`, its alert: people are to be paged.
    static let isPage: Query = "(e.severity IN ('critical', 'page') AND e.state = 'firing' AND o.kind IN ('firing', 'reopened'))"

    /// Records a try and moves the order key on. Nothing happens when the claim is not ours any more.
    ///
    /// - Parameters:
    ///   - messageId: of a grouped message.
    ///   - keepsMessageId: all of those are retried, so they keep that id.
    static func settle(
        _ claimed: ClaimedNotification,
        _ outcome: NotificationOutcome,
        messageId: String? = nil,
        keepsMessageId: Bool = false,
        lease: AlertLease,
        now: Timestamp,
        in transaction: any PostgresSession
    ) async throws {
        let message = claimed.message
        let state = outcome.result == .retry ? "pending" : outcome.result.rawValue
        let settledAt = outcome.result == .retry ? nil : now
        let changed = try await transaction.execute(
            """
            UPDATE notifications
            SET state = \(state), attempts = attempts + 1, nextAttemptAt = \(outcome.nextAttemptAt), lastError = \(outcome.error),
                settledAt = \(settledAt), leaseEpoch = NULL, leaseUntil = NULL, messageId = CASE WHEN \(keepsMessageId) THEN messageId END
            WHERE alertId = \(message.alertId) AND receiver = \(message.receiver) AND seq = \(Int32(message.seq))
              AND state = 'pending' AND leaseEpoch = \(lease.epoch)
            """
        )
        guard changed == 1 else { throw LeaseLost(lease: lease) }
        if let thread = outcome.thread {
            try await transaction.execute(
                """
                INSERT INTO alertThreads (alertId, receiver, thread) VALUES (\(message.alertId), \(message.receiver), \(thread))
                ON CONFLICT (alertId, receiver) DO UPDATE SET thread = excluded.thread
                """
            )
        }
        if outcome.result == .delivered { try await retry(message.receiver, except: message.alertId, now: now, in: transaction) }
        let older = outcome.result == .delivered ? "superseded" : state
        try await transaction.execute(
            """
            UPDATE notifications
            SET state = \(older), nextAttemptAt = \(outcome.nextAttemptAt), settledAt = \(settledAt), leaseEpoch = NULL, leaseUntil = NULL,
                messageId = CASE WHEN \(keepsMessageId) THEN messageId END
            WHERE alertId = \(message.alertId) AND receiver = \(message.receiver) AND seq < \(Int32(message.seq)) AND state = 'pending'
            """
        )
        guard outcome.result != .superseded else { return }
        try await transaction.execute(
            """
            INSERT INTO notificationAttempts
                (alertId, receiver, seq, result, attemptedAt, status, latencyMs, responsePrefix, error, messageId)
            VALUES (\(message.alertId), \(message.receiver), \(Int32(message.seq)), \(outcome.result.rawValue), \(now),
                    \(outcome.status.map(Int32.init)), \(Int32(clamping: outcome.latency.microseconds / 1000)),
                    \(outcome.responsePrefix), \(outcome.error), \(messageId))
            """
        )
    }

    /// Retries what a receiver rejected once it accepts notifications again, while it is true and nothing later was sent: five attempts in
    /// all, so that a notification it never accepts is not retried for ever. Returns how many are pending again.
    @discardableResult
    static func retry(
        _ receiver: String,
        except excluded: UUID? = nil,
        isForced: Bool = false,
        now: Timestamp,
        in transaction: any PostgresSession
    ) async throws -> Int {
        try await transaction.execute(
            """
            UPDATE notifications o SET state = 'pending', nextAttemptAt = least(\(now), clock_timestamp()), settledAt = NULL
            FROM alerts e
            WHERE e.alertId = o.alertId AND o.receiver = \(receiver) AND o.state = 'deadLettered' AND (\(isForced) OR o.attempts < 5)
              AND (\(excluded)::uuid IS NULL OR o.alertId <> \(excluded)) AND e.silencedBy IS NULL
              AND (e.state = 'firing' AND o.kind IN ('firing', 'reopened')
                   OR e.state = 'resolved' AND o.kind = 'resolved' AND e.resolvedAt > \(now - .seconds(86_400)))
              AND NOT EXISTS (
                  SELECT FROM notifications later
                  WHERE later.alertId = o.alertId AND later.receiver = o.receiver AND later.seq > o.seq
                    AND (later.state IN ('pending', 'delivered') OR later.state = 'deadLettered' AND later.kind <> 'resolved'))
            """
        )
    }

    static let notConfigured = "no receiver of this name is configured"

    /// Gives up what waits for receivers that are not configured and is about alerts that resolved before `end`.
    static func giveUp(
        notFor configured: [String],
        resolvedBefore end: Timestamp,
        now: Timestamp,
        on session: any PostgresSession
    ) async throws {
        try await session.execute(
            """
            UPDATE notifications o SET state = 'undelivered', settledAt = \(now), lastError = \(notConfigured)
            FROM alerts e
            WHERE e.alertId = o.alertId AND o.state = 'pending' AND NOT o.receiver = ANY(\(configured)) AND e.resolvedAt < \(end)
            """
        )
    }

    /// How many messages wait, and since when the oldest does that waits for nothing but its delivery: a page, or one that was tried.
    static func waiting(on session: any PostgresSession) async throws -> (count: Int, oldest: Timestamp?) {
        let rows = try await session.query(
            """
            SELECT count(*), min(createdAt) FILTER (WHERE severity IN ('critical', 'page') OR attempts > 0)
            FROM notifications JOIN alerts USING (alertId) WHERE notifications.state = 'pending'
            """
        )
        return try rows[0].decode((Int, Timestamp?).self)
    }
}
