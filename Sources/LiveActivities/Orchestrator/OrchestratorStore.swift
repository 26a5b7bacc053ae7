import Delivery
import Postgres
import PushContract

/// The statements of the cycle, each of which may be run again at any time. What concerns all followers of a subject is done in portions.
struct OrchestratorStore: Sendable {
    private let pool: PostgresPool
    private let policy: StartPolicy
    private let portion: Int

    init(pool: PostgresPool, policy: StartPolicy = StartPolicy(), portion: Int = PendingActivities.portion) {
        self.pool = pool
        self.policy = policy
        self.portion = portion
    }

    /// Pending activities for the next followers who should have one and do not; how many were made, and what is left.
    ///
    /// - Parameter users: subjects, each with the last follower who was looked at; "": none was.
    func createMissing(after users: [String: String], now: Timestamp) async throws -> (created: Int, left: [String: String]) {
        guard !users.isEmpty else { return (0, [:]) }
        let limit = max(1, portion / users.count)
        let rows = try await pool.query(PendingActivities.create(after: users, limit: limit, policy, now: now))
            .map { try $0.decode((String, String, Int, Int).self) }
        let subjects = Array(users.keys)
        let renewed = try await pool.execute(PendingActivities.rollOver(subjects: subjects, limit: portion, policy, now: now))
        var left: [String: String] = renewed < portion ? [:] : users
        for (subject, last, count, _) in rows where count == limit { left[subject] = last }
        return ((rows.first?.3 ?? 0) + renewed, left)
    }

    /// Ends the next activities of a match whose day is over, or that was live and has not begun after all. It stays followed, and is shown
    /// again when play goes on. False: none is left, or it is too early.
    func endDay(_ match: String, now: Timestamp) async throws -> Bool {
        try await pool.performTransaction { [portion] connection in
            // Play may go on by now.
            let resting = try connection.query(
                """
                SELECT 1 FROM activeMatches WHERE matchId = \(match) AND stateBuiltAt <= \(now - LiveSubject.restsAfter)
                    AND (phase = 'stumps' OR phase = 'scheduled' AND wentLiveAt IS NOT NULL) FOR SHARE
                """
            )
            guard !resting.isEmpty else { return false }
            try connection.execute(OrchestratorStore.retireChannels(of: match, now: now))
            let current = OrchestratorStore.current(match, limit: portion)
            return try ActivityEnds.end(current, reason: .stumps, on: connection, now: now) == portion
        }
    }

    /// Those of the subjects whose source is silent; true: it has confirmed nothing for very long.
    func silent(_ subjects: [String], now: Timestamp) async throws -> [String: Bool] {
        guard !subjects.isEmpty else { return [:] }
        let silent = try await pool.query(
            """
            SELECT m.subject, \(Freshness.isLost(now: now)) FROM subjectSources m WHERE m.subject = ANY(\(subjects)) AND m.isLive
                AND m.confirmedAt + m.silentAfter * interval '1 second' < \(now)
            """
        ).map { try $0.decode((String, Bool).self) }
        return Dictionary(uniqueKeysWithValues: silent)
    }

    /// Ends the next activities of a subject whose source has confirmed nothing for very long. False: none is left.
    func endSilent(_ subject: String, now: Timestamp) async throws -> Bool {
        try await pool.performTransaction { [portion] connection in
            let (table, id) = subject.contains("/") ? ("activitySubjects", "subject") : ("activeMatches", "matchId")
            // The source may have come back meanwhile.
            let lost = try connection.query(
                "SELECT 1 FROM \(raw: table) m WHERE \(raw: id) = \(subject) AND \(Freshness.isLost(now: now)) FOR UPDATE"
            )
            guard !lost.isEmpty else { return false }
            try connection.execute(OrchestratorStore.retireChannels(of: subject, now: now))
            let current = OrchestratorStore.current(subject, limit: portion)
            return try ActivityEnds.end(current, reason: .matchEnd, cause: Freshness.cause, on: connection, now: now) == portion
        }
    }

    /// Ends the next activities of a subject that is over, and says when what there is of it may be forgotten. False: nothing is left.
    func endOver(_ subject: String, now: Timestamp) async throws -> Bool {
        try await pool.performTransaction { [portion] connection in
            let expiry = now + SubjectStore.retention
            try connection.execute(
                """
                UPDATE activeMatches SET endedAt = coalesce(endedAt, \(now)), expiresAt = coalesce(expiresAt, \(expiry)), pollerState = 'ended'
                WHERE matchId = \(subject) AND (expiresAt IS NULL OR endedAt IS NULL OR pollerState <> 'ended')
                """
            )
            try connection.execute(OrchestratorStore.retireChannels(of: subject, now: now))
            let current = OrchestratorStore.current(subject, limit: portion)
            let ended = try ActivityEnds.end(current, reason: .matchEnd, on: connection, now: now)
            let follows = try connection.execute(
                """
                UPDATE follows SET expiresAt = \(expiry) WHERE (userId, matchId) IN (
                    SELECT userId, matchId FROM follows WHERE matchId = \(subject) AND expiresAt IS NULL LIMIT \(portion))
                """
            )
            // Last: a subject is not released as long as one of its activities, or the subject, does not expire.
            guard follows < portion else { return true }
            let activities = try connection.execute(
                """
                UPDATE liveActivities SET expiresAt = \(expiry) WHERE (matchId, userId, deviceId, instance) IN (
                    SELECT matchId, userId, deviceId, instance FROM liveActivities
                    WHERE matchId = \(subject) AND expiresAt IS NULL AND status = 'ended' LIMIT \(portion))
                """
            )
            if max(ended, activities) == portion { return true }
            try connection.execute("UPDATE activitySubjects SET expiresAt = \(expiry) WHERE subject = \(subject) AND expiresAt IS NULL")
            return false
        }
    }

    /// Gives up those of the subjects that were over a quarter of an hour ago, unless an activity is left to be ended; the others stay
    /// leased. A correction of the last state comes in that time. Those that were given up.
    func release(_ subjects: [String], now: Timestamp) async throws -> [String] {
        guard !subjects.isEmpty else { return [] }
        var released: [String] = []
        for (table, id) in [("activeMatches", "matchId"), ("activitySubjects", "subject")] {
            released += try await pool.query(
                """
                UPDATE \(raw: table) m SET releasedAt = \(now), owner = NULL, leaseUntil = NULL
                WHERE \(raw: id) = ANY(\(subjects)) AND endedAt <= \(now - OrchestratorStore.releaseAfter) AND expiresAt IS NOT NULL
                    AND NOT EXISTS (SELECT FROM liveActivities a WHERE a.matchId = m.\(raw: id) AND a.expiresAt IS NULL)
                RETURNING \(raw: id)
                """
            ).map { try $0.decode(String.self) }
        }
        return released
    }

    /// Those of the subjects, which are over, of which an activity is left.
    func unfinished(_ subjects: [String]) async throws -> [String] {
        guard !subjects.isEmpty else { return [] }
        return try await pool.query(
            """
            SELECT s.subject FROM unnest(\(subjects)) AS s(subject)
            WHERE EXISTS (SELECT FROM liveActivities a WHERE a.matchId = s.subject AND a.expiresAt IS NULL)
            """
        ).map { try $0.decode(String.self) }
    }

    private static let releaseAfter = Duration.seconds(900)
    private static let sweptAtOnce = 10_000
    private static let unconfirmedFor = Duration.seconds(7 * 86_400)

    private static func current(_ subject: String, limit: Int) -> Query {
        """
        (matchId, userId, deviceId, instance) IN (SELECT matchId, userId, deviceId, instance FROM liveActivities
            WHERE matchId = \(subject) AND status <> 'ended' LIMIT \(limit))
        """
    }

    /// Channels send the end, and are deleted; another day has one of its own.
    private static func retireChannels(of subject: String, now: Timestamp) -> Query {
        """
        UPDATE activityChannels SET retiredAt = \(now), endDueAt = CASE WHEN channelId IS NOT NULL THEN \(now)::timestamptz END
        WHERE matchId = \(subject) AND retiredAt IS NULL
        """
    }

    /// Forgets what ended long ago; how many rows. Of what a large following leaves, a part at a time.
    func sweep(now: Timestamp) async throws -> Int {
        var swept = try await sweepUnconfirmed(now: now)
        for table in ["liveActivities", "follows", "activeMatches", "activitySubjects"] {
            let expired: Query = "SELECT ctid FROM \(raw: table) WHERE expiresAt <= \(now) LIMIT \(OrchestratorStore.sweptAtOnce)"
            swept += try await pool.execute("DELETE FROM \(raw: table) WHERE ctid = ANY(ARRAY(\(expired)))")
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

    /// Subjects that nobody has confirmed for a week are over, although their source never said so. A match is deleted with its follows,
    /// and is a new one if it comes back: its cards ended when its source was lost. Another subject ends, since devices may still show it;
    /// what has no source that repeats its state, such as a parcel, after as long as follows stay.
    private func sweepUnconfirmed(now: Timestamp) async throws -> Int {
        let limit = now - OrchestratorStore.unconfirmedFor
        let subjects: Query = """
            greatest(confirmedAt, staleAt) <= \(limit) AND (freshFor IS NOT NULL OR confirmedAt <= \(now) - interval '90 days')
            """
        try await pool.execute(CustomQueries.end(subjects, now: now))
        // A match that was announced without its start may be long in coming: it stays as long as follows do.
        let isUnconfirmed: Query = """
            m.expiresAt IS NULL AND greatest(m.confirmedAt, m.startsAt) <= \(limit)
            AND (m.phase <> 'scheduled' OR m.startsAt IS NOT NULL OR m.confirmedAt <= \(now) - interval '90 days')
            """
        let matches: Query = "SELECT m.matchId FROM activeMatches m WHERE \(isUnconfirmed)"
        var swept = 0
        // Follows first: while one is left, an activity could be made again. What a portion leaves has its turn in the next cycle.
        for table in ["follows", "liveActivities"] {
            let rows: Query = "SELECT ctid FROM \(raw: table) WHERE matchId IN (\(matches)) LIMIT \(OrchestratorStore.sweptAtOnce)"
            let deleted = try await pool.execute("DELETE FROM \(raw: table) WHERE ctid = ANY(ARRAY(\(rows)))")
            swept += deleted
            if deleted == OrchestratorStore.sweptAtOnce { return swept }
        }
        // A condition of the row itself is checked again after a wait for its lock: the match may be confirmed by then.
        swept += try await pool.execute(
            """
            DELETE FROM activeMatches m WHERE \(isUnconfirmed)
                AND NOT EXISTS (SELECT FROM liveActivities a WHERE a.matchId = m.matchId)
                AND NOT EXISTS (SELECT FROM follows f WHERE f.matchId = m.matchId)
            """
        )
        return swept
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
