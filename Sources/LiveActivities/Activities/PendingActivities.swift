import Delivery
import Postgres
import PushContract

/// Who should have an activity and does not: made in one statement, for any number of followers.
///
/// The same statement serves a match that goes live, a follow or a start of a live subject, a restart, and the recovery of dead tokens. It may be run
/// any number of times.
enum PendingActivities {
    /// - Parameters:
    ///   - userId: only for this user.
    ///   - startedByApp: a device whose app starts the activity itself.
    static func create(
        subjects: [String],
        userId: String? = nil,
        startedByApp: String? = nil,
        _ policy: StartPolicy,
        now: Timestamp
    ) -> Query {
        """
        INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, attributesType, app, environment, createdAt, nextStartAt)
        SELECT f.matchId, f.userId, d.deviceId, coalesce(last.instance, 0) + 1, 'pending', m.attributesType, d.app,
            d.environment, \(now),
            CASE WHEN d.deviceId = \(startedByApp) THEN \(now + policy.grace)
                WHEN last.endReason = 'token_invalid' AND f.followedAt <= last.endedAt AND healed.times > 1
                    THEN last.endedAt + (\(waits(policy))::double precision[])[healed.times - 1] * interval '1 second'
                ELSE \(now) END
        FROM liveSubjects m
        JOIN follows f ON f.matchId = m.subject
        JOIN devices d ON d.userId = f.userId AND d.deviceId = coalesce(f.onlyDeviceId, d.deviceId)
        \(StartTargets.token(for: "m.attributesType"))
        LEFT JOIN LATERAL (
            SELECT a.instance, a.status, a.endReason, a.endCause, a.endedAt, a.lastStateHash FROM liveActivities a
            WHERE a.matchId = f.matchId AND a.userId = f.userId AND a.deviceId = d.deviceId ORDER BY a.instance DESC LIMIT 1
        ) last ON true
        CROSS JOIN LATERAL (
            SELECT count(*) AS times FROM liveActivities a
            WHERE last.endReason = 'token_invalid' AND a.matchId = f.matchId AND a.userId = f.userId AND a.deviceId = d.deviceId
              AND a.endReason = 'token_invalid' AND a.endedAt > \(now) - interval '1 day'
        ) healed
        WHERE m.subject = ANY(\(subjects)) AND m.isLive
          AND (\(userId)::text IS NULL OR f.userId = \(userId)) AND coalesce(f.expiresAt, 'infinity') > \(now)
          AND d.platform = 'ios' AND \(StartTargets.usable(at: now))
          AND (last.instance IS NULL OR (last.status = 'ended' AND (
              f.followedAt > last.endedAt
              OR (f.followedAt = last.endedAt AND last.endReason IN ('user_unfollow', 'user_dismissed'))
              OR (last.endReason = 'token_invalid' AND healed.times <= \(policy.backOff.count + 1)
                  AND (last.endCause IS DISTINCT FROM 'stale' OR last.lastStateHash IS DISTINCT FROM m.stateHash))
              OR last.endReason = 'stumps'
              OR (last.endCause = \(Freshness.cause) AND m.confirmedAt > last.endedAt)
              OR (last.endReason = 'device_unregistered' AND d.registeredAt > last.endedAt))))
        ON CONFLICT DO NOTHING
        """
    }

    /// The next instance of activities that come near the system's eight hours; the old one stays until the new one is there.
    static func rollOver(subjects: [String], _ policy: StartPolicy, now: Timestamp) -> Query {
        """
        INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, attributesType, app, environment, createdAt, nextStartAt)
        SELECT a.matchId, a.userId, a.deviceId, a.instance + 1, 'pending', a.attributesType, a.app, a.environment, \(now), \(now)
        FROM liveActivities a JOIN liveSubjects m ON m.subject = a.matchId
        WHERE a.matchId = ANY(\(subjects)) AND a.status = 'active' AND a.activatedAt <= \(now - policy.rollOverAfter)
          AND m.isLive AND \(Freshness.isFresh(now: now))
          AND NOT EXISTS (SELECT 1 FROM liveActivities n
              WHERE n.matchId = a.matchId AND n.userId = a.userId AND n.deviceId = a.deviceId AND n.instance > a.instance)
        ON CONFLICT DO NOTHING
        """
    }

    private static func waits(_ policy: StartPolicy) -> [Double] { policy.backOff.map(\.inSeconds) }
}
