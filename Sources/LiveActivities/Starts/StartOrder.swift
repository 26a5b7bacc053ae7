import Delivery
import Postgres
import PushContract

/// Which starts a device gets that follows more than it may start: those of the most important subjects, of equals in the order of the
/// user. A start that is repeated, because the app did not hand in a token, goes after all that were not sent.
enum StartOrder {
    /// Of a subject whose priority nobody has given. 1 is the most important.
    static let usualPriority: Int16 = 5
    /// Of a follow to which the user has given no position: after all that have one, in the order of following.
    static let lastPosition: Int16 = 1000
    /// How long a start waits that is due and not among the first, before it is looked at again.
    static let pause = Duration.seconds(30)

    /// Two CTEs: of the devices of `candidates`, `free` has how often each may be started, and `ranked` the position of the subject's due
    /// start among all of its device, from 1. What cannot be started now (an old score, a subject that is not live, a dead start token) has
    /// none.
    static func ranking(_ subject: String, _ policy: StartPolicy, now: Timestamp) -> Query {
        """
        free AS MATERIALIZED (
            SELECT c.deviceId, least(
                \(policy.perHour) - count(e.deliveryId) FILTER (WHERE e.claimedAt > \(now) - interval '1 hour'),
                \(policy.perDay) - count(e.deliveryId)) AS starts
            FROM (SELECT DISTINCT deviceId FROM candidates) c
            LEFT JOIN activityStarts e ON e.deviceId = c.deviceId AND \(counts(now: now))
            GROUP BY c.deviceId
        ), ranked AS MATERIALIZED (SELECT * FROM (
            SELECT b.matchId, b.userId, b.deviceId, b.instance, row_number() OVER (
                PARTITION BY b.userId, b.deviceId
                ORDER BY b.startsDelivered > 0, m.startPriority, \(position), coalesce(f.followedAt, b.createdAt), b.matchId) AS position
            FROM (SELECT DISTINCT userId, deviceId FROM candidates) c
            JOIN liveActivities b ON b.userId = c.userId AND b.deviceId = c.deviceId
            JOIN liveSubjects m ON m.subject = b.matchId
            JOIN devices d ON d.userId = b.userId AND d.deviceId = b.deviceId
            \(StartTargets.token(for: "b.attributesType"))
            LEFT JOIN follows f ON f.userId = b.userId AND f.matchId = b.matchId
            WHERE b.status = 'pending' AND b.nextStartAt <= \(now + pause) AND m.isLive AND \(Freshness.isFresh(now: now))
              AND \(StartTargets.usable(at: now))
        ) AS due WHERE matchId = \(subject))
        """
    }

    /// Of the follow `f`.
    static var position: Query { "coalesce(f.position, \(lastPosition))::smallint" }

    /// Of the start `e`: it counts in the budget of its device.
    static func counts(now: Timestamp) -> Query {
        "e.claimedAt > \(now) - interval '1 day' AND coalesce(e.outcome, '') NOT IN ('rejected', 'notSent')"
    }
}
