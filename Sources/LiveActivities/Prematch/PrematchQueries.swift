import Delivery
import Postgres
import PushContract

/// The SQL of alerts before matches.
enum PrematchQueries {
    static let prefix = OwnSends.prematch.prefix

    /// Matches that begin within `lead` and that no send was made for, of this start.
    static func due(lead: Duration, now: Timestamp) -> Query {
        """
        SELECT m.matchId, coalesce(m.displayState::jsonb->>'title', m.matchId), m.startsAt FROM activeMatches m
        WHERE m.phase = 'scheduled' AND m.startsAt > \(now) AND m.startsAt <= \(now + lead)
            AND NOT EXISTS (SELECT FROM pushSends s WHERE s.sendId = \(sendId))
        ORDER BY m.startsAt, m.matchId
        """
    }

    /// Whether no other send before this match has gone to somebody; one that was cancelled has not. There is another one only after the start
    /// has moved.
    static func isNotAlerted(_ uid: Query, before matchId: String, except sendId: String) -> Query {
        // "." follows "-", so that the range holds every sendId that begins so. OFFSET keeps PostgreSQL from reading all deliveries into a hash
        // table.
        """
        NOT (EXISTS (SELECT FROM pushSends o
                WHERE o.sendId >= \(prefix + matchId + "-") AND o.sendId < \(prefix + matchId + ".") AND o.sendId <> \(sendId))
            AND EXISTS (SELECT FROM pushDeliveries e LEFT JOIN pushFinished ended USING (deliveryId)
                WHERE e.uid = \(uid) AND regexp_replace(e.sendId, '-[0-9]+$', '') = \(prefix + matchId)
                    AND ended.outcome IS DISTINCT FROM 'cancelled' OFFSET 0))
        """
    }

    /// Sends that wait, or may, for a start that does not hold any more; also those that are cancelled and of which not all have ended.
    static func outdated(author: String, lead: Duration, now: Timestamp) -> Query {
        """
        SELECT s.sendId FROM pushSends s
        WHERE s.createdAt > \(now - lead - .seconds(3600)) AND s.author = \(author) AND s.expiresAt > \(now)
            AND NOT EXISTS (SELECT FROM pushCancels c WHERE c.sendId = s.sendId AND c.afterDeliveryId IS NULL)
            AND NOT EXISTS (SELECT FROM activeMatches m WHERE m.phase = 'scheduled' AND s.sendId = \(sendId))
        """
    }

    /// Of the match `m`.
    private static let sendId: Query = "'\(raw: prefix)' || m.matchId || '-' || floor(extract(epoch FROM m.startsAt))::bigint"
}
