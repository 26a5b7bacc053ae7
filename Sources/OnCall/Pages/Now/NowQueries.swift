import Postgres
import PushContract

/// The SQL of the page *Now*.
enum NowQueries {
    /// Sends with an outcome per minute, provider and reason. Bounded by the key's first column.
    static func traffic(from: Timestamp, to: Timestamp) -> Query {
        """
        SELECT (extract(epoch FROM minute) / 60)::bigint, provider::text, reasonCode, sum(attempts)::bigint, sum(latencyMsSum)::bigint,
            sum(latencyCount)::bigint
        FROM attemptRollups
        WHERE minute >= \(from) AND minute < \(to) AND eventType = 'send' AND status IN ('sent', 'failed', 'deactivated')
        GROUP BY minute, provider, reasonCode
        """
    }

    /// By the primary key, backwards.
    static let lastNotificationAttempt: Query =
        "SELECT receiver, result, attemptedAt, status, error FROM notificationAttempts ORDER BY notificationAttemptId DESC LIMIT 1"

    /// By the partial index on pending rows. What waits for its group or for the end of quiet hours is not late.
    static let pendingNotifications: Query = """
        SELECT count(*), min(createdAt) FILTER (WHERE severity IN ('critical', 'page') OR attempts > 0)
        FROM notifications JOIN alerts USING (alertId) WHERE notifications.state = 'pending'
        """

    /// The outbox is as small as alerts are rare.
    static func lostNotifications(since: Timestamp) -> Query {
        "SELECT count(*) FROM notifications AS outbox WHERE \(isLost(since: since))"
    }

    /// A condition on `notifications AS outbox`: what waits, and what was lost since then.
    static func undeliveredNotifications(since: Timestamp) -> Query {
        "(outbox.state = 'pending' OR \(isLost(since: since)))"
    }

    private static func isLost(since: Timestamp) -> Query {
        "(outbox.state IN ('deadLettered', 'undelivered') AND outbox.settledAt >= \(since))"
    }
}
