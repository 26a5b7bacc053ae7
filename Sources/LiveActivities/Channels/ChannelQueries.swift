import Delivery
import Postgres
import PushContract

/// The SQL of wanting and claiming.
enum ChannelQueries {
    /// Of the device `d`: iOS 18 or newer. Below it a start that names a channel starts nothing.
    static let canListen: Query = """
        (d.platform = 'ios' AND coalesce(substring(d.osVersion FROM '^[^0-9]*([0-9]{1,4})')::integer, 0) >= \(OSVersion.broadcast.major))
        """

    /// The channel that a start of the activity `a` on the device `d` names, as `c`. None while channels are off.
    static func join(_ policy: ChannelPolicy) -> Query {
        """
        LEFT JOIN activityChannels c ON c.matchId = a.matchId AND c.app = a.app AND c.environment = a.environment
            AND c.channelId IS NOT NULL AND c.retiredAt IS NULL AND \(policy.makesChannels) AND \(canListen)
        """
    }

    /// Whether the start of a match's activity waits for a channel that is being made, or will be wanted in a moment.
    static func waits(_ policy: ChannelPolicy, now: Timestamp) -> Query {
        guard policy.makesChannels else { return "false" }
        let row: Query = "w.matchId = a.matchId AND w.app = a.app AND w.environment = a.environment"
        return """
            (\(canListen) AND (NOT EXISTS (SELECT FROM activityChannels w WHERE \(row))
                OR EXISTS (SELECT FROM activityChannels w
                    WHERE \(row) AND w.channelId IS NULL AND w.retiredAt IS NULL AND w.waitUntil > \(now))))
            """
    }

    static func open(_ appEnvironments: Query, now: Timestamp) -> Query {
        """
        INSERT INTO activityChannelScopes (app, environment, listDueAt)
        SELECT DISTINCT app, environment::pushEnvironment, \(now)::timestamptz FROM unnest(\(appEnvironments)) AS p(matchId, app, environment)
        ON CONFLICT DO NOTHING
        """
    }

    /// Nobody waits for one that cannot be made now.
    static func requestMissing(_ appEnvironments: Query, _ policy: ChannelPolicy, now: Timestamp) -> Query {
        """
        INSERT INTO activityChannels (matchId, app, environment, createdAt, createDueAt, waitUntil)
        SELECT p.matchId, p.app, s.environment, \(now), \(now), CASE WHEN \(mayMake(policy, now: now)) THEN \(now + policy.tokenDelay) END
        FROM unnest(\(appEnvironments)) AS p(matchId, app, environment)
        JOIN activityChannelScopes s ON s.app = p.app AND s.environment = p.environment::pushEnvironment
        ON CONFLICT DO NOTHING
        """
    }

    /// In the scope `s`: no refusal keeps it shut, and the limit is not near. Counted are what was listed and what was made since.
    private static func mayMake(_ policy: ChannelPolicy, now: Timestamp) -> Query {
        """
        (coalesce(s.pausedUntil, '-infinity') <= \(now) AND coalesce(s.channels, 0) + (
            SELECT count(*) FROM activityChannels m WHERE m.app = s.app AND m.environment = s.environment
                AND m.channelId IS NOT NULL AND m.createdAt > coalesce(s.listedAt, '-infinity')
            ) < \(policy.limit - policy.reserve))
        """
    }

    /// One query finds whether there is anything to claim: nearly always there is not.
    static func isDue(_ policy: ChannelPolicy, now: Timestamp) -> Query {
        """
        SELECT EXISTS (SELECT FROM activityChannels
                WHERE endDueAt <= \(now) OR deleteDueAt <= \(now) OR (createDueAt <= \(now) AND \(policy.makesChannels)))
            OR EXISTS (SELECT FROM activityChannelOrphans WHERE deleteDueAt <= \(now))
            OR EXISTS (SELECT FROM activityChannelScopes
                WHERE listDueAt <= \(now) AND (\(policy.makesChannels) OR EXISTS (SELECT FROM activityChannels)))
        """
    }

    static func claimMaking(_ policy: ChannelPolicy, limit: Int, except excluded: Set<AppEnvironment>, now: Timestamp) -> Query {
        guard policy.makesChannels else { return "SELECT '', '', '', 0 WHERE false" }
        return """
            UPDATE activityChannels c SET createDueAt = \(now + policy.lease), createAttempts = createAttempts + 1
            WHERE (c.matchId, c.app, c.environment) IN (
                SELECT d.matchId, d.app, d.environment FROM activityChannels d
                JOIN activityChannelScopes s ON s.app = d.app AND s.environment = d.environment
                WHERE d.channelId IS NULL AND d.retiredAt IS NULL AND d.createDueAt <= \(now) AND \(mayMake(policy, now: now))
                  AND \(excluded.exclusion(of: "d"))
                ORDER BY d.createDueAt LIMIT \(limit) FOR UPDATE OF d SKIP LOCKED)
            RETURNING c.matchId, c.app, c.environment, c.createAttempts
            """
    }

    static func claimEnds(_ policy: ChannelPolicy, limit: Int, except excluded: Set<AppEnvironment>, now: Timestamp) -> Query {
        """
        UPDATE activityChannels c SET endDueAt = \(now + policy.lease), endAttempts = endAttempts + 1
        WHERE (c.matchId, c.app, c.environment) IN (
            SELECT d.matchId, d.app, d.environment FROM activityChannels d
            WHERE d.endDueAt <= \(now) AND d.channelId IS NOT NULL AND \(excluded.exclusion(of: "d"))
            ORDER BY d.endDueAt LIMIT \(limit) FOR UPDATE SKIP LOCKED)
        RETURNING c.matchId, c.app, c.environment, c.channelId, c.lastTimestampSent, c.endAttempts, c.endsSent, c.retiredAt
        """
    }

    static func claimDeletions(_ policy: ChannelPolicy, limit: Int, except excluded: Set<AppEnvironment>, now: Timestamp) -> Query {
        """
        UPDATE activityChannels c SET deleteDueAt = \(now + policy.lease), deleteAttempts = deleteAttempts + 1
        WHERE (c.matchId, c.app, c.environment) IN (
            SELECT d.matchId, d.app, d.environment FROM activityChannels d
            WHERE d.deleteDueAt <= \(now) AND d.channelId IS NOT NULL AND \(excluded.exclusion(of: "d"))
            ORDER BY d.deleteDueAt LIMIT \(limit) FOR UPDATE SKIP LOCKED)
        RETURNING c.matchId, c.app, c.environment, c.channelId, c.deleteAttempts
        """
    }

    static func claimOrphans(_ policy: ChannelPolicy, limit: Int, except excluded: Set<AppEnvironment>, now: Timestamp) -> Query {
        """
        UPDATE activityChannelOrphans c SET deleteDueAt = \(now + policy.lease), attempts = attempts + 1
        WHERE (c.app, c.environment, c.channelId) IN (
            SELECT d.app, d.environment, d.channelId FROM activityChannelOrphans d
            WHERE d.deleteDueAt <= \(now) AND \(excluded.exclusion(of: "d"))
            ORDER BY d.deleteDueAt LIMIT \(limit) FOR UPDATE SKIP LOCKED)
        RETURNING c.app, c.environment, c.channelId
        """
    }

    /// While channels are off, only where some are left.
    static func claimLists(_ policy: ChannelPolicy, limit: Int, except excluded: Set<AppEnvironment>, now: Timestamp) -> Query {
        """
        UPDATE activityChannelScopes c SET listDueAt = \(now + policy.listEvery)
        WHERE (c.app, c.environment) IN (
            SELECT d.app, d.environment FROM activityChannelScopes d
            WHERE d.listDueAt <= \(now) AND \(excluded.exclusion(of: "d"))
              AND (\(policy.makesChannels) OR EXISTS (SELECT FROM activityChannels m WHERE m.app = d.app AND m.environment = d.environment))
            ORDER BY d.listDueAt LIMIT \(limit) FOR UPDATE SKIP LOCKED)
        RETURNING c.app, c.environment
        """
    }
}
