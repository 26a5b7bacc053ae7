import Delivery
import Postgres
import PushContract

/// The statements of one cycle. Each concerns all followers of the subjects at once and may be run again at any time.
struct OrchestratorStore: Sendable {
    private let pool: PostgresPool
    private let policy: StartPolicy

    init(pool: PostgresPool, policy: StartPolicy = StartPolicy()) {
        self.pool = pool
        self.policy = policy
    }

    /// Pending activities for followers who should have one and do not; how many were made.
    func createMissing(_ subjects: [String], now: Timestamp) async throws -> Int {
        guard !subjects.isEmpty else { return 0 }
        let created = try await pool.execute(PendingActivities.create(subjects: subjects, policy, now: now))
        return created + (try await pool.execute(PendingActivities.rollOver(subjects: subjects, policy, now: now)))
    }

    /// Ends what is shown of matches whose day is over. They stay followed, and are shown again when play goes on; how many activities ended.
    func endDay(_ matches: [String], now: Timestamp) async throws -> Int {
        guard !matches.isEmpty else { return 0 }
        return try await pool.performTransaction { connection in
            let ended = try ActivityEnds.end("matchId = ANY(\(matches))", reason: .stumps, on: connection, now: now)
            try connection.execute(OrchestratorStore.retireChannels(of: matches, now: now))
            return ended
        }
    }

    /// Ends what is shown of those of the subjects whose source has confirmed nothing for very long; of how many the source is silent.
    func endSilent(_ subjects: [String], now: Timestamp) async throws -> Int {
        guard !subjects.isEmpty else { return 0 }
        let silent = try await pool.query(
            """
            SELECT m.subject, \(Freshness.isLost(now: now)) FROM subjectSources m WHERE m.subject = ANY(\(subjects)) AND m.isLive
                AND m.confirmedAt + m.silentAfter * interval '1 second' < \(now)
            """
        ).map { try $0.decode((String, Bool).self) }
        let candidates = silent.filter(\.1).map(\.0)
        guard !candidates.isEmpty else { return silent.count }
        try await pool.performTransaction { connection in
            // The source may have come back meanwhile.
            var lost: [String] = []
            for (table, id) in [("activeMatches", "matchId"), ("activitySubjects", "subject")] {
                lost += try connection.query(
                    """
                    SELECT \(raw: id) FROM \(raw: table) m WHERE \(raw: id) = ANY(\(candidates)) AND \(Freshness.isLost(now: now))
                    ORDER BY \(raw: id) FOR UPDATE
                    """
                ).map { try $0.decode(String.self) }
            }
            try ActivityEnds.end("matchId = ANY(\(lost))", reason: .matchEnd, cause: Freshness.cause, on: connection, now: now)
            try connection.execute(OrchestratorStore.retireChannels(of: lost, now: now))
        }
        return silent.count
    }

    /// Ends what is shown of subjects that are over, and says when all of it may be forgotten; how many activities ended.
    func endOver(_ subjects: [String], now: Timestamp) async throws -> Int {
        guard !subjects.isEmpty else { return 0 }
        return try await pool.performTransaction { connection in
            let ended = try ActivityEnds.end("matchId = ANY(\(subjects))", reason: .matchEnd, on: connection, now: now)
            let expiry = now + SubjectStore.retention
            try connection.execute(
                """
                UPDATE activeMatches SET endedAt = coalesce(endedAt, \(now)), expiresAt = coalesce(expiresAt, \(expiry)), pollerState = 'ended'
                WHERE matchId = ANY(\(subjects)) AND (expiresAt IS NULL OR endedAt IS NULL OR pollerState <> 'ended')
                """
            )
            try connection.execute(OrchestratorStore.retireChannels(of: subjects, now: now))
            try connection.execute(
                "UPDATE activitySubjects SET expiresAt = \(expiry) WHERE subject = ANY(\(subjects)) AND expiresAt IS NULL"
            )
            for table in ["follows", "liveActivities"] {
                try connection.execute(
                    "UPDATE \(raw: table) SET expiresAt = \(expiry) WHERE matchId = ANY(\(subjects)) AND expiresAt IS NULL"
                )
            }
            return ended
        }
    }

    /// Channels send the end, and are deleted; another day has one of its own.
    private static func retireChannels(of subjects: [String], now: Timestamp) -> Query {
        """
        UPDATE activityChannels SET retiredAt = \(now), endDueAt = CASE WHEN channelId IS NOT NULL THEN \(now)::timestamptz END
        WHERE matchId = ANY(\(subjects)) AND retiredAt IS NULL
        """
    }

    /// Forgets what ended long ago; how many rows.
    func sweep(now: Timestamp) async throws -> Int {
        var swept = 0
        for table in ["liveActivities", "follows", "activeMatches", "activitySubjects"] {
            swept += try await pool.execute("DELETE FROM \(raw: table) WHERE expiresAt <= \(now)")
        }
        // Of matches that never came.
        swept += try await pool.execute(
            """
            DELETE FROM follows f WHERE f.expiresAt IS NULL AND f.followedAt <= \(now) - interval '90 days'
                AND NOT EXISTS (SELECT FROM activeMatches m WHERE m.matchId = f.matchId)
                AND NOT EXISTS (SELECT FROM activitySubjects s WHERE s.subject = f.matchId)
            """
        )
        swept += try await pool.execute(
            "DELETE FROM liveSends s WHERE NOT EXISTS (SELECT FROM liveSubjects m WHERE m.subject = s.matchId)"
        )
        swept += try await pool.execute("DELETE FROM activityAlerts WHERE builtAt <= \(now - SubjectAlert.retention)")
        return swept + (try await pool.execute("DELETE FROM activityStarts WHERE claimedAt < \(now) - interval '7 days'"))
    }

    /// What came of the starts that were accepted since then.
    struct Starts: Sendable {
        var adopted: Int
        /// Accepted more than a minute ago, and no token came back.
        var unanswered: Int
        var medianTimeToToken: Double?
    }

    func starts(since: Timestamp) async throws -> Starts {
        let row = try await pool.query(
            """
            SELECT count(adoptedAt), count(*) FILTER (WHERE adoptedAt IS NULL AND NOT byChannel AND outcome = 'accepted'
                AND claimedAt < clock_timestamp() - interval '1 minute'),
                percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM adoptedAt - claimedAt)::double precision)
            FROM activityStarts WHERE claimedAt > \(since)
            """
        )[0]
        let (adopted, unanswered, median) = try row.decode((Int, Int, Double?).self)
        return Starts(adopted: adopted, unanswered: unanswered, medianTimeToToken: median)
    }
}
