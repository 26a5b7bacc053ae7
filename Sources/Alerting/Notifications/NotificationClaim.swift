import AlertRules
import Foundation
import Postgres
import PushContract

/// Takes messages from the outbox for one notifier: pages by themselves and at once, others of a receiver together.
///
/// Of an order key the newest notification is claimed with the older pending ones, which it supersedes: "firing" never follows "resolved".
struct NotificationClaim {
    /// Alerts in one message, at most.
    static let maxGroupSize = 40

    let lease: AlertLease
    let receivers: ReceiverSet
    let perReceiver: Int
    /// For how long they are leased, by the database's clock.
    let duration: Duration
    let externalURL: String
    let now: Timestamp

    /// Each to be sent by itself.
    func single(in transaction: any PostgresSession) async throws -> [ClaimedNotification] {
        try await take(
            """
            WITH \(orderKeys), \(limited), ranked AS (
                -- A receiver that hangs may fill its own places only.
                -- Pages come first, so that a limit is never used up by what can wait.
                SELECT orderKeys.*,
                       row_number() OVER (PARTITION BY receiver ORDER BY pages DESC, createdAt, alertId)
                          + (SELECT count(*) FROM orderKeys leased WHERE leased.receiver = orderKeys.receiver AND leased.isLeased) AS place
                FROM orderKeys
                WHERE isDue AND NOT isLeased AND NOT isSilenced AND (pages OR NOT receiver = ANY(\(receivers.quiet(at: now))))
                  AND (NOT isGrouped OR NOT receiver = ANY(\(receivers.groupings.map(\.receiver))))
            ), due AS (
                SELECT alertId, receiver, seq, NULL::text AS messageId FROM ranked
                WHERE place <= least(\(perReceiver),
                                    coalesce((SELECT remaining FROM limited l WHERE l.receiver = ranked.receiver), \(perReceiver)))
                ORDER BY pages DESC, createdAt, alertId, receiver
            )
            """,
            in: transaction
        )
    }

    /// What is no page, by receivers that group notifications: once the oldest has waited for `group_wait`, and the
    /// last such message went `group_interval` ago.
    ///
    /// A message that is retried waits for neither, and keeps its content: a receiver that took it without being able to say so
    /// knows it by its id, so nothing may join it, leave it or change its state. Later notifications are in the next one.
    func grouped(in transaction: any PostgresSession) async throws -> [[ClaimedNotification]] {
        let groupings = receivers.groupings
        guard !groupings.isEmpty else { return [] }
        let taken = try await take(
            """
            WITH \(orderKeys), \(limited), groupedReceivers AS (
                SELECT g.receiver, g.wait, g.newId,
                       NOT EXISTS (
                           SELECT FROM notificationAttempts d JOIN alerts e USING (alertId)
                           WHERE d.receiver = g.receiver AND d.result = 'delivered' AND \(Self.isGrouped)
                             AND d.attemptedAt > \(now)::timestamptz - g.pause * interval '1 minute') AS isIntervalOver
                FROM unnest(
                    \(groupings.map(\.receiver)), \(groupings.map { Int64($0.grouping.wait.minutes) }),
                    \(groupings.map { Int64($0.grouping.interval.minutes) }),
                    \(groupings.map { _ in "group-" + UUID().uuidString.lowercased() })
                ) AS g (receiver, wait, pause, newId)
                -- One at a time, so that they come in order.
                WHERE NOT EXISTS (SELECT FROM orderKeys WHERE orderKeys.receiver = g.receiver AND isLeased AND isGrouped)
                  AND coalesce((SELECT remaining FROM limited l WHERE l.receiver = g.receiver), 1) > 0
                  AND NOT g.receiver = ANY(\(receivers.quiet(at: now)))
            ), ranked AS (
                SELECT orderKeys.*, groupedReceivers.wait, groupedReceivers.newId, groupedReceivers.isIntervalOver,
                       min(createdAt) OVER message AS oldest,
                       row_number() OVER (PARTITION BY receiver, messageId ORDER BY createdAt, alertId) AS place,
                       bool_and(isDue) OVER message AS isComplete
                FROM orderKeys JOIN groupedReceivers USING (receiver)
                WHERE isGrouped AND NOT isSilenced AND (isDue OR messageId IS NOT NULL)
                WINDOW message AS (PARTITION BY receiver, messageId)
            ), chosen AS (
                SELECT DISTINCT ON (receiver) receiver, messageId FROM ranked
                WHERE CASE WHEN messageId IS NULL
                           THEN isIntervalOver AND oldest <= \(now)::timestamptz - wait * interval '1 minute' ELSE isComplete END
                ORDER BY receiver, messageId NULLS LAST
            ), due AS (
                SELECT alertId, receiver, seq, coalesce(ranked.messageId, newId) AS messageId FROM ranked JOIN chosen USING (receiver)
                WHERE ranked.messageId IS NOT DISTINCT FROM chosen.messageId
                  AND (ranked.messageId IS NOT NULL OR place <= \(Self.maxGroupSize))
            )
            """,
            in: transaction
        )
        return Dictionary(grouping: taken, by: \.message.receiver).sorted { $0.key < $1.key }.map(\.value)
    }

    /// A test notification measures how long a message takes, so it is sent at once.
    private static let isGrouped: Query = "(e.severity NOT IN ('critical', 'page') AND e.rule <> \(TestNotification.rule))"

    /// A notification `o` of the receiver, before that of `due`, that the alert fires.
    private static let isEarlierFiring: Query =
        "o.alertId = due.alertId AND o.receiver = due.receiver AND o.seq < due.seq AND o.kind IN ('firing', 'reopened')"

    /// What waits, by alert and receiver.
    private var orderKeys: Query {
        """
        orderKeys AS (
            SELECT waiting.*, e.severity IN ('critical', 'page') AS pages, \(Self.isGrouped) AS isGrouped,
                   -- Silenced before it was sent: it waits for the end of the silence.
                   messageId IS NULL AND e.silencedBy IS NOT NULL AND e.state = 'firing' AS isSilenced
            FROM (
                SELECT alertId, receiver,
                       -- A group that was attempted stays as it was. A resolved notification supersedes all before it; others are
                       -- sent in order.
                       CASE WHEN max(messageId) IS NOT NULL THEN max(seq) FILTER (WHERE messageId IS NOT NULL)
                            WHEN bool_or(kind = 'resolved') THEN max(seq) ELSE min(seq) END AS seq,
                       max(messageId) AS messageId, min(createdAt) AS createdAt,
                       bool_and(nextAttemptAt <= \(now) OR kind IN ('acknowledged', 'repeated')) AS isDue,
                       bool_or(coalesce(leaseUntil > clock_timestamp(), false)) AS isLeased
                -- Notifications of a receiver that is not configured wait until it is.
                FROM notifications WHERE state = 'pending' AND receiver = ANY(\(receivers.receivers.map(\.name)))
                GROUP BY alertId, receiver
            ) waiting JOIN alerts e USING (alertId)
        )
        """
    }

    /// How many more attempts receivers with a limit may have now. A grouped message counts once.
    private var limited: Query {
        let limits = receivers.limits.sorted { $0.key < $1.key }
        return """
            limited AS (
                SELECT receiver, most - (SELECT count(DISTINCT coalesce(messageId, notificationAttemptId::text)) FROM notificationAttempts d
                                         WHERE d.receiver = l.receiver AND d.attemptedAt > \(now - .seconds(60))) AS remaining
                FROM unnest(\(limits.map(\.key)), \(limits.map { Int64($0.value) })) AS l (receiver, most)
            )
            """
    }

    /// Takes what `due` names.
    private func take(_ due: Query, in transaction: any PostgresSession) async throws -> [ClaimedNotification] {
        let seconds = Double(duration.components.seconds)
        return try await transaction.query(
            """
            \(due), taken AS (
                UPDATE notifications o
                SET leaseEpoch = \(lease.epoch), leaseUntil = clock_timestamp() + make_interval(secs => \(seconds)),
                    messageId = due.messageId
                FROM due WHERE o.alertId = due.alertId AND o.receiver = due.receiver AND o.state = 'pending' AND o.seq <= due.seq
                RETURNING o.alertId, o.receiver, o.seq, o.attempts
            )
            SELECT due.receiver, due.seq::bigint, \(raw: NotificationStore.messageColumns),
                   (SELECT attempts::bigint FROM taken WHERE taken.alertId = due.alertId AND taken.receiver = due.receiver
                                                         AND taken.seq = due.seq),
                   EXISTS (SELECT FROM notifications o WHERE \(Self.isEarlierFiring) AND o.state = 'delivered'),
                   NOT EXISTS (SELECT FROM notifications o WHERE \(Self.isEarlierFiring) AND NOT (\(NotificationStore.isUnsent))),
                   (SELECT thread FROM alertThreads WHERE alertThreads.alertId = due.alertId AND alertThreads.receiver = due.receiver),
                   due.messageId,
                   (SELECT createdAt FROM notifications o WHERE o.alertId = due.alertId AND o.receiver = due.receiver AND o.seq = due.seq)
            FROM due
            JOIN alerts e ON e.alertId = due.alertId
            JOIN alertTransitions t ON t.alertId = due.alertId AND t.seq = due.seq
            """
        ).map { try ClaimedNotification(row: $0, externalURL: externalURL) }
    }
}
