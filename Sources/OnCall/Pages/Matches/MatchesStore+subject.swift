import Postgres
import PushContract

extension MatchesStore {
    /// How many followers whose card is not as it should be are listed.
    static let laggardLimit = 25

    /// Nil when there is no such match or other subject.
    func subject(_ name: String, now: Timestamp) async throws -> SubjectData? {
        guard let head = try await head(name, now: now) else { return nil }
        return SubjectData(
            summary: head.summary,
            state: head.state,
            seq: head.seq,
            owner: head.owner,
            leaseUntil: head.leaseUntil,
            feed: head.feed,
            statusCounts: try await statusCounts(name),
            fanOut: try await fanOut(name, head),
            starts: try await starts(name, since: now - .seconds(3_600)),
            laggards: try await laggards(name, head)
        )
    }

    private struct Head {
        var summary: SubjectSummary
        var state: String
        var seq: Int64
        var stateTimestamp: Int64
        var builtAt: Timestamp
        var owner: String?
        var leaseUntil: Timestamp?
        var feed: String?
    }

    private func head(_ name: String, now: Timestamp) async throws -> Head? {
        let row = try await pool.query(
            """
            SELECT displayState, displayState::jsonb->>'title', displayState::jsonb->>'status', phase, phase IN ('ended', 'abandoned'),
                lastUpdatedAt, seq, stateTimestamp, stateBuiltAt, owner, leaseUntil, pollerState,
                \(Self.followers(now: now)), \(Self.silentSince("s.matchId", now: now))
            FROM activeMatches s WHERE matchId = \(name)
            UNION ALL
            SELECT contentState, NULL, attributesType, CASE WHEN endedAt IS NULL THEN 'live' ELSE 'ended' END, endedAt IS NOT NULL,
                lastUpdatedAt, seq, stateTimestamp, stateBuiltAt, owner, leaseUntil, 'fresh for ' || freshFor || ' s',
                \(Self.followers(now: now)), \(Self.silentSince("s.matchId", now: now))
            FROM (SELECT *, subject AS matchId FROM activitySubjects) s WHERE matchId = \(name) LIMIT 1
            """
        ).first
        guard let row else { return nil }
        let values = try row.decode(
            (String, String?, String?, String, Bool, Timestamp, Int64, Int64, Timestamp, String?, Timestamp?, String?, Int, Timestamp?)
                .self
        )
        let summary = SubjectSummary(
            subject: name,
            title: values.1,
            status: values.2,
            phase: values.3,
            isOver: values.4,
            updatedAt: values.5,
            followers: values.12,
            pending: 0,
            active: 0,
            ended: 0,
            behind: 0,
            feedSilentSince: values.13
        )
        return Head(
            summary: summary,
            state: values.0,
            seq: values.6,
            stateTimestamp: values.7,
            builtAt: values.8,
            owner: values.9,
            leaseUntil: values.10,
            feed: values.11
        )
    }

    private func statusCounts(_ name: String) async throws -> [SubjectData.StatusCount] {
        try await pool.query(
            """
            SELECT status::text, endReason, endCause, count(*) FROM liveActivities WHERE matchId = \(name)
            GROUP BY status, endReason, endCause ORDER BY status, count(*) DESC, endReason
            """
        ).map { row in
            let (status, reason, cause, count) = try row.decode((String, String?, String?, Int).self)
            return SubjectData.StatusCount(status: status, endReason: reason, endCause: cause, count: count)
        }
    }

    private func fanOut(_ name: String, _ head: Head) async throws -> SubjectData.FanOut {
        let row = try await pool.query(
            """
            SELECT count(*) FILTER (WHERE has), count(*) FILTER (WHERE NOT has),
                percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FILTER (WHERE has),
                percentile_cont(0.99) WITHIN GROUP (ORDER BY age) FILTER (WHERE has), max(age) FILTER (WHERE has)
            FROM (
                SELECT lastTimestampSent >= \(head.stateTimestamp) AS has,
                    extract(epoch FROM lastSentAt - \(head.builtAt))::float8 AS age
                FROM liveActivities WHERE matchId = \(name) AND status = 'active' AND channelId IS NULL
            ) AS activity
            """
        )[0]
        let values = try row.decode((Int, Int, Double?, Double?, Double?).self)
        return SubjectData.FanOut(
            builtAt: head.builtAt,
            reached: values.0,
            waiting: values.1,
            median: values.2,
            slowest99: values.3,
            slowest: values.4
        )
    }

    private func starts(_ name: String, since: Timestamp) async throws -> SubjectData.Starts {
        let row = try await pool.query(
            """
            SELECT count(*) FILTER (WHERE outcome IS DISTINCT FROM 'notSent'), count(*) FILTER (WHERE outcome = 'accepted'),
                   count(*) FILTER (WHERE outcome = 'rejected'),
                count(*) FILTER (WHERE outcome = 'unknown'), count(adoptedAt),
                percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM adoptedAt - claimedAt)::float8)
            FROM activityStarts WHERE matchId = \(name) AND claimedAt >= \(since)
            """
        )[0]
        let values = try row.decode((Int, Int, Int, Int, Int, Double?).self)
        return SubjectData.Starts(
            claimed: values.0,
            accepted: values.1,
            rejected: values.2,
            unknown: values.3,
            adopted: values.4,
            medianToToken: values.5
        )
    }

    /// Those without a token although their start was accepted two minutes ago, those with a suspect token, and those that were
    /// not sent the newest state within a minute.
    private func laggards(_ name: String, _ head: Head) async throws -> [SubjectData.Laggard] {
        try await pool.query(
            """
            SELECT userId, deviceId, status::text, problem, since FROM (
                SELECT userId, deviceId, status, createdAt AS since,
                    CASE WHEN startAcceptedAt IS NULL THEN 'its start was not accepted'
                         ELSE 'started, and no update token has come' END AS problem
                FROM liveActivities
                WHERE matchId = \(name) AND status = 'pending' AND createdAt < clock_timestamp() - interval '2 minutes'
                UNION ALL
                SELECT userId, deviceId, status, coalesce(lastSentAt, activatedAt, createdAt),
                    CASE WHEN suspectRefusals > 0 THEN 'its token was rejected' ELSE 'not sent the newest state' END
                FROM liveActivities
                WHERE matchId = \(name) AND status = 'active' AND channelId IS NULL AND (suspectRefusals > 0 OR
                    (lastTimestampSent < \(head.stateTimestamp) AND \(head.builtAt) < clock_timestamp() - interval '1 minute'))
            ) AS late ORDER BY since, userId, deviceId LIMIT \(Self.laggardLimit)
            """
        ).map { row in
            let values = try row.decode((String, String, String, String, Timestamp).self)
            return SubjectData.Laggard(uid: values.0, deviceId: values.1, status: values.2, problem: values.3, since: values.4)
        }
    }
}
