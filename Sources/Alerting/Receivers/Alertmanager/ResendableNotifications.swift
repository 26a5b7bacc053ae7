import Postgres
import PushContract

/// The newest notifications of receivers that need them resent.
enum ResendableNotifications {
    /// The messages of every alert that fires and was delivered; the resolved one of those whose end was delivered since
    /// `endedSince`. An end that still waits in the outbox is the notifier's.
    static func current(
        receivers: [String],
        endedSince: Timestamp,
        externalURL: String,
        on session: any PostgresSession
    ) async throws -> [AlertNotification] {
        try await session.query(
            """
            SELECT o.receiver, o.seq::bigint, \(raw: NotificationStore.messageColumns), 0::bigint, true, false, NULL::text, NULL::text,
                   o.createdAt
            FROM notifications o
            JOIN alerts e USING (alertId)
            JOIN alertTransitions t ON t.alertId = o.alertId AND t.seq = o.seq
            WHERE o.receiver = ANY(\(receivers)) AND o.state = 'delivered'
              AND (e.state = 'firing' AND o.kind IN ('firing', 'reopened')
                   OR e.state = 'resolved' AND o.kind = 'resolved' AND o.settledAt > \(endedSince))
            ORDER BY e.startsAt, e.alertId
            """
        ).map { try ClaimedNotification(row: $0, externalURL: externalURL).message }
    }
}
