import AlertRules
import Postgres
import PushContract

/// Reads what the alerts about Pushwatch itself depend on.
enum BuiltInStore {
    static func dataGap(observedSince: Timestamp, now: Timestamp, on session: any PostgresSession) async throws -> DataGap {
        let heartbeat = try await HeartbeatStore.newest(on: session)
        let uncommittedSince = try await HeartbeatStore.oldestUncommitted(at: now, on: session)
        var gap = DataGap(
            newestHeartbeat: heartbeat,
            uncommittedSince: uncommittedSince,
            observedSince: observedSince,
            comparableAttempts: []
        )
        // Traffic matters only when no instance has written for a while; otherwise nothing is read.
        guard let heartbeat, now - heartbeat > DataGap.fresh else { return gap }
        let hour = Duration.seconds(3600)
        let spans = [heartbeat - hour, now - .seconds(86_400) - hour / 2, now - .seconds(7 * 86_400) - hour / 2].map { ($0, $0 + hour) }
        for (from, to) in spans {
            let rows = try await session.query(
                """
                SELECT coalesce(sum(attempts), 0)::bigint FROM attemptRollups
                WHERE minute >= \(from) AND minute < \(to) AND eventType = 'send' AND status IN ('sent', 'failed', 'deactivated')
                """
            )
            gap.comparableAttempts.append(try rows[0].decode(Int64.self))
        }
        return gap
    }

    /// Notifications that wait although they were attempted, and those for receivers that are not configured; without those that wait for
    /// the end of a silence or of quiet hours, as `NotificationClaim` decides.
    static func receiverOutages(
        _ receivers: ReceiverSet,
        now: Timestamp,
        on session: any PostgresSession
    ) async throws -> [ReceiverOutage] {
        let configured = receivers.receivers.map(\.name)
        return try await session.query(
            """
            SELECT o.receiver, min(o.createdAt), min(o.createdAt) FILTER (WHERE \(NotificationStore.isPage)), count(*),
                   (array_agg(o.lastError ORDER BY o.attempts DESC))[1]
            FROM notifications o JOIN alerts e USING (alertId)
            WHERE o.state = 'pending' AND e.rule <> \(TestNotification.rule)
              AND (o.attempts > 0 OR (NOT o.receiver = ANY(\(configured)) AND e.silencedBy IS NULL))
              AND NOT (o.messageId IS NULL AND e.silencedBy IS NOT NULL AND e.state = 'firing')
              AND (e.severity IN ('critical', 'page') OR NOT o.receiver = ANY(\(receivers.quiet(at: now))))
            GROUP BY o.receiver
            ORDER BY o.receiver
            """
        ).map {
            let (receiver, waitingSince, pageWaitingSince, waiting, error) = try $0.decode(
                (String, Timestamp, Timestamp?, Int64, String?).self
            )
            return ReceiverOutage(
                receiver: receiver,
                waitingSince: waitingSince,
                pageWaitingSince: pageWaitingSince,
                waiting: waiting,
                lastError: configured.contains(receiver) ? error : NotificationStore.notConfigured
            )
        }
    }

    /// Receivers that rejected a message within the horizon, or have an open alert about it, and have accepted none since.
    static func receiverFailures(_ open: Set<String>, now: Timestamp, on session: any PostgresSession) async throws -> [ReceiverFailure] {
        try await session.query(
            """
            SELECT o.receiver, max(o.settledAt), count(*),
                   (array_agg(o.lastError ORDER BY o.settledAt DESC))[1],
                   (array_agg(counted.severity ORDER BY array_position(ARRAY['critical', 'page', 'ticket', 'info'], counted.severity)))[1],
                   max(delivered.newest)
            FROM notifications o JOIN alerts e USING (alertId)
            -- Nobody is paged because the end of a page was not delivered.
            CROSS JOIN LATERAL (
                SELECT CASE WHEN e.severity IN ('critical', 'page') AND NOT \(NotificationStore.isPage) THEN 'ticket'
                            ELSE e.severity END AS severity
            ) counted
            CROSS JOIN LATERAL (
                SELECT max(settledAt) AS newest FROM notifications d WHERE d.receiver = o.receiver AND d.state = 'delivered'
            ) delivered
            WHERE o.state = 'deadLettered' AND (o.settledAt > \(now - ReceiverFailure.horizon) OR o.receiver = ANY(\(open.sorted())))
              -- A page of long ago makes no page of a ticket that is refused today.
              AND o.settledAt >= coalesce(delivered.newest, '-infinity')
            GROUP BY o.receiver
            ORDER BY o.receiver
            """
        ).map {
            let (receiver, deadLetteredAt, deadLettered, error, severity, deliveredAt) = try $0.decode(
                (String, Timestamp, Int64, String?, String, Timestamp?).self
            )
            return ReceiverFailure(
                receiver: receiver,
                deadLetteredAt: deadLetteredAt,
                deadLettered: deadLettered,
                lastError: error,
                severity: Severity(rawValue: severity) ?? .page,
                deliveredAt: deliveredAt
            )
        }
    }
}
