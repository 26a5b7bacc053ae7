import Delivery
import Postgres
import PushContract

/// Who should have an activity and does not: made in one statement for a portion of the followers.
///
/// The same statement serves a match that goes live, a follow or a start of a live subject, a restart, and the recovery of dead tokens. It
/// may be run any number of times.
enum PendingActivities {
    /// Followers, or activities, of one statement: few enough to take a small part of the time that a statement has.
    static let portion = 2000

    /// Of one user.
    static func create(_ subject: String, userId: String, _ policy: StartPolicy, now: Timestamp) -> Query {
        let follow: Query = "(SELECT * FROM follows WHERE userId = \(userId) AND matchId = \(subject))"
        return insert([subject], from: follow, policy, now: now)
    }

    /// Of the first portion of the followers. The engine makes those of the others.
    static func create(_ subject: String, _ policy: StartPolicy, now: Timestamp) -> Query {
        let first: Query = "(SELECT * FROM follows WHERE matchId = \(subject) ORDER BY userId LIMIT \(portion))"
        return insert([subject], from: first, policy, now: now)
    }

    /// Of the next portion, which the subjects share; a row for each subject that had any follower left: the last one in the portion, how
    /// many of them there were, and how many activities were made for all subjects.
    ///
    /// - Parameter limit: followers of each.
    static func create(after users: [String: String], limit: Int, _ policy: StartPolicy, now: Timestamp) -> Query {
        let subjects = Array(users.keys)
        return """
            WITH portion AS MATERIALIZED (
                SELECT f.* FROM unnest(\(subjects), \(subjects.map { users[$0] ?? "" })) AS s(subject, userId)
                CROSS JOIN LATERAL (SELECT * FROM follows WHERE follows.matchId = s.subject AND follows.userId > s.userId
                    ORDER BY follows.userId LIMIT \(limit)) f
            ), made AS (
                \(insert(subjects, from: "portion", policy, now: now)) RETURNING 1
            )
            SELECT matchId, max(userId), count(*), (SELECT count(*) FROM made) FROM portion GROUP BY matchId
            """
    }

    private static func insert(
        _ subjects: [String],
        from followers: Query,
        _ policy: StartPolicy,
        now: Timestamp
    ) -> Query {
        """
        INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, attributesType, app, environment, createdAt, nextStartAt)
        SELECT f.matchId, f.userId, d.deviceId, coalesce(last.instance, 0) + 1, 'pending', m.attributesType, d.app,
            d.environment, \(now),
            -- The app starts it there by itself, or does not. A device may be registered after its app has said so.
            CASE WHEN d.deviceId = f.deviceId AND f.startsHereAt > \(now - policy.grace)
                AND f.startsHereAt >= coalesce(last.endedAt, '-infinity')
                    THEN f.startsHereAt + \(policy.grace.inSeconds) * interval '1 second'
                WHEN f.followedAt <= last.endedAt THEN coalesce(\(restartsAt(policy)), \(now))
                ELSE \(now) END
        FROM \(followers) f
        JOIN liveSubjects m ON m.subject = f.matchId
        JOIN devices d ON d.userId = f.userId AND d.deviceId = coalesce(f.onlyDeviceId, d.deviceId)
        \(StartTargets.token(for: "m.attributesType"))
        LEFT JOIN LATERAL (
            SELECT a.instance, a.status, a.endReason, a.endCause, a.activatedAt, a.endedAt, a.lastStateHash FROM liveActivities a
            WHERE a.matchId = f.matchId AND a.userId = f.userId AND a.deviceId = d.deviceId ORDER BY a.instance DESC LIMIT 1
        ) last ON true
        \(deadTokens(now: now))
        WHERE m.subject = ANY(\(subjects)) AND m.isLive AND coalesce(f.expiresAt, 'infinity') > \(now)
          AND d.platform = 'ios' AND \(StartTargets.usable(at: now))
          AND (last.instance IS NULL OR (last.status = 'ended' AND (
              f.followedAt > last.endedAt
              OR (f.followedAt = last.endedAt AND last.endReason IN ('user_unfollow', 'user_dismissed'))
              OR (\(isRestarted(policy))
                  AND ((last.endCause IS DISTINCT FROM 'stale' AND last.endedAt < last.activatedAt + \(systemLimit))
                      OR last.lastStateHash IS DISTINCT FROM m.stateHash))
              OR last.endReason = 'stumps'
              OR (last.endCause = \(Freshness.cause) AND m.confirmedAt > last.endedAt)
              OR (last.endReason = 'device_unregistered' AND d.registeredAt > last.endedAt))))
        ON CONFLICT DO NOTHING
        """
    }

    /// How often dead tokens ended activities of the follow `f` on the device `d` in the last day; 0 unless one ended the `last` one.
    static func deadTokens(now: Timestamp) -> Query {
        """
        CROSS JOIN LATERAL (
            SELECT count(*) AS times FROM liveActivities a
            WHERE last.endReason = 'token_invalid' AND a.matchId = f.matchId AND a.userId = f.userId AND a.deviceId = d.deviceId
              AND a.endReason = 'token_invalid' AND a.endedAt > \(now) - interval '1 day'
        ) healed
        """
    }

    /// Whether a dead token ended the last one, and it is started again.
    static func isRestarted(_ policy: StartPolicy) -> Query {
        "last.endReason = 'token_invalid' AND healed.times <= \(policy.backOff.count + 1)"
    }

    /// When that is at the earliest; NULL: at once, or the last one did not end so.
    static func restartsAt(_ policy: StartPolicy) -> Query {
        """
        CASE WHEN last.endReason = 'token_invalid' AND healed.times > 1
            THEN last.endedAt + (\(waits(policy))::double precision[])[healed.times - 1] * interval '1 second' END
        """
    }

    /// The next instance of up to `limit` activities that come near the system's eight hours; the old one stays until the new one is there.
    /// A start alerts the person: without a new state there is one roll-over, and what the system ends then comes back with a new state.
    static func rollOver(subjects: [String], limit: Int, _ policy: StartPolicy, now: Timestamp) -> Query {
        // Without a new state nothing can be due of what the system has ended, and a large following of it is not read again each time.
        let systemEnd: Query = "\(now - ActivityHistory.systemLimit)::timestamptz"
        return """
            INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, attributesType, app, environment, createdAt, nextStartAt)
            SELECT a.matchId, a.userId, a.deviceId, a.instance + 1, 'pending', a.attributesType, a.app, a.environment, \(now), \(now)
            FROM liveActivities a JOIN liveSubjects m ON m.subject = a.matchId
            WHERE a.matchId = ANY(\(subjects)) AND a.status = 'active' AND a.activatedAt <= \(now - policy.rollOverAfter)
              AND a.activatedAt > CASE WHEN m.lastUpdatedAt > \(systemEnd) THEN '-infinity'::timestamptz ELSE \(systemEnd) END
              AND m.isLive AND \(Freshness.isFresh(now: now))
              AND NOT EXISTS (SELECT 1 FROM liveActivities n
                  WHERE n.matchId = a.matchId AND n.userId = a.userId AND n.deviceId = a.deviceId AND n.instance > a.instance)
              AND (m.lastUpdatedAt > a.createdAt OR (SELECT p.endReason FROM liveActivities p
                  WHERE p.matchId = a.matchId AND p.userId = a.userId AND p.deviceId = a.deviceId AND p.instance = a.instance - 1)
                  IS DISTINCT FROM 'rolled_over')
            LIMIT \(limit)
            ON CONFLICT DO NOTHING
            """
    }

    private static var systemLimit: Query { "\(ActivityHistory.systemLimit.components.seconds)::bigint * interval '1 second'" }

    private static func waits(_ policy: StartPolicy) -> [Double] { policy.backOff.map(\.inSeconds) }
}
