import Delivery
import Postgres
import PushContract

/// The SQL of alerts before matches.
enum PrematchQueries {
    static let prefix = OwnSends.prematch.prefix

    /// Matches that begin within `lead` and that no send was made for, of this start; each with how many there were that this service has
    /// cancelled. One that somebody else has cancelled is not repeated.
    ///
    /// A match waits for deliveries of a cancelled send that have not ended: until then their recipients count as alerted.
    static func due(author: String, lead: Duration, now: Timestamp) -> Query {
        // OFFSET, here and below, keeps PostgreSQL from reading all deliveries into a hash table. The condition on leases is one that an
        // index can be read by: without it, where sequential scans are off, no other cost would matter.
        """
        SELECT m.matchId, coalesce(m.displayState::jsonb->>'title', m.matchId), m.startsAt,
            (SELECT count(*) FROM pushSends s WHERE \(isOfStart))
        FROM activeMatches m
        WHERE m.phase = 'scheduled' AND m.startsAt > \(now) AND m.startsAt <= \(now + lead)
            AND NOT EXISTS (SELECT FROM pushSends s WHERE \(isOfStart)
                AND NOT EXISTS (SELECT FROM pushCancels c WHERE c.sendId = s.sendId AND c.author = \(author)) OFFSET 0)
            AND NOT EXISTS (SELECT FROM pushCancels c JOIN pushDeliveries e USING (sendId)
                WHERE c.sendId >= '\(raw: prefix)' || m.matchId || '-' AND c.sendId < '\(raw: prefix)' || m.matchId || '.'
                    AND (EXISTS (SELECT FROM pushReady ready WHERE ready.deliveryId = e.deliveryId OFFSET 0)
                        OR EXISTS (SELECT FROM pushScheduled scheduled WHERE scheduled.deliveryId = e.deliveryId OFFSET 0)
                        OR e.deliveryId IN (SELECT deliveryId FROM pushLeasedDeliveries WHERE leaseUntil > '-infinity')) OFFSET 0)
        ORDER BY m.startsAt, m.matchId
        """
    }

    /// Whether no other send before this match has gone to somebody; one that was cancelled has not. There is another one only after the
    /// start has moved.
    static func isNotAlerted(_ uid: Query, before matchId: String, except sendId: String) -> Query {
        // "." follows "-", so that the range holds every sendId that begins so.
        """
        NOT (EXISTS (SELECT FROM pushSends o
                WHERE o.sendId >= \(prefix + matchId + "-") AND o.sendId < \(prefix + matchId + ".") AND o.sendId <> \(sendId))
            AND EXISTS (SELECT FROM pushDeliveries e LEFT JOIN pushFinishedSingles ended USING (deliveryId)
                WHERE e.uid = \(uid) AND regexp_replace(e.sendId, '-[0-9]+([.][0-9]+)?$', '') = \(prefix + matchId)
                    AND ended.outcome IS DISTINCT FROM 'cancelled' OFFSET 0))
        """
    }

    /// Sends that wait, or may, for a start that does not hold any more; also those that are cancelled and of which not all have ended.
    static func outdated(author: String, lead: Duration, now: Timestamp) -> Query {
        """
        SELECT s.sendId FROM pushSends s LEFT JOIN pushCancels c USING (sendId)
        WHERE s.createdAt > \(now - lead - .seconds(3600)) AND s.author = \(author) AND s.expiresAt > \(now)
            AND CASE WHEN c.sendId IS NULL THEN NOT EXISTS (SELECT FROM activeMatches m WHERE m.phase = 'scheduled' AND \(isOfStart))
                ELSE c.afterDeliveryId IS NOT NULL END
        """
    }

    /// Whether the send `s` is of the match `m` and its start: with the number of those that were cancelled before it, if there were any.
    private static let isOfStart: Query = """
        (s.sendId = \(firstSendId) OR s.sendId >= \(firstSendId) || '.' AND s.sendId < \(firstSendId) || '/')
        """
    private static let firstSendId: Query = "('\(raw: prefix)' || m.matchId || '-' || floor(extract(epoch FROM m.startsAt))::bigint)"
}
