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

    /// Followers whom no send before this match has gone to; one that was cancelled has not.
    static func followers(of match: DueMatch, now: Timestamp) -> Query {
        """
        SELECT f.userId FROM follows f WHERE f.matchId = \(match.matchId) AND coalesce(f.expiresAt, 'infinity') > \(now)
            AND NOT EXISTS (
                SELECT FROM pushDeliveries d LEFT JOIN pushFinished e USING (deliveryId)
                WHERE d.uid = f.userId AND regexp_replace(d.sendId, '-[0-9]+$', '') = \(prefix + match.matchId)
                    AND e.outcome IS DISTINCT FROM 'cancelled')
        ORDER BY f.userId
        """
    }

    /// Sends that wait, or may, for a start that does not hold any more.
    static func outdated(author: String, lead: Duration, now: Timestamp) -> Query {
        """
        SELECT s.sendId FROM pushSends s
        WHERE s.createdAt > \(now - lead - .seconds(3600)) AND s.author = \(author) AND s.expiresAt > \(now)
            AND NOT EXISTS (SELECT FROM pushCancels c WHERE c.sendId = s.sendId)
            AND NOT EXISTS (SELECT FROM activeMatches m WHERE m.phase = 'scheduled' AND s.sendId = \(sendId))
        """
    }

    /// Of the match `m`.
    private static let sendId: Query = "'\(raw: prefix)' || m.matchId || '-' || floor(extract(epoch FROM m.startsAt))::bigint"
}
