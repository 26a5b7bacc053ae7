import Postgres
import PushContract

/// Reads what the pages of matches show. Counts of activities go by the matchId at the front of their key; nothing here reads a token.
struct MatchesStore: Sendable {
    /// How many matches, and how many other subjects, the overview shows.
    static let limit = 50
    /// Of a live subject: since when its source has confirmed nothing, if it is silent (as `pushwatch_live_feeds_silent` counts).
    static func silentSince(_ subject: Query, now: Timestamp) -> Query {
        """
        (SELECT q.confirmedAt FROM subjectSources q WHERE q.subject = \(subject) AND q.isLive
            AND q.confirmedAt + q.silentAfter * interval '1 second' < \(now))
        """
    }

    let pool: PostgresPool

    func read(now: Timestamp) async throws -> MatchesData {
        // What is on first, then the newest state.
        let subjects = try await (matches(now: now) + others(now: now)).sorted {
            $0.isOver != $1.isOver ? $1.isOver : ($1.updatedAt, $0.subject) < ($0.updatedAt, $1.subject)
        }
        return MatchesData(subjects: subjects, pushes: try await pushes(now: now))
    }

    private func matches(now: Timestamp) async throws -> [SubjectSummary] {
        try await pool.query(
            """
            WITH shown AS (
                SELECT matchId, phase, displayState, lastUpdatedAt, stateTimestamp, phase IN ('ended', 'abandoned') AS isOver
                FROM activeMatches ORDER BY phase IN ('ended', 'abandoned'), lastUpdatedAt DESC, matchId LIMIT \(Self.limit)
            )
            SELECT s.matchId, s.displayState::jsonb->>'title', s.displayState::jsonb->>'status', s.phase, s.isOver, s.lastUpdatedAt,
                \(Self.followers(now: now)), a.pending, a.active, a.ended, a.behind, \(Self.silentSince("s.matchId", now: now))
            FROM shown s CROSS JOIN LATERAL (\(Self.counts)) a ORDER BY s.isOver, s.lastUpdatedAt DESC, s.matchId
            """
        ).map(SubjectSummary.init)
    }

    private func others(now: Timestamp) async throws -> [SubjectSummary] {
        try await pool.query(
            """
            WITH shown AS (
                SELECT subject AS matchId, attributesType, endedAt IS NOT NULL AS isOver, lastUpdatedAt, stateTimestamp
                FROM activitySubjects ORDER BY endedAt IS NOT NULL, lastUpdatedAt DESC, subject LIMIT \(Self.limit)
            )
            SELECT s.matchId, NULL::text, s.attributesType, CASE WHEN s.isOver THEN 'ended' ELSE 'live' END, s.isOver, s.lastUpdatedAt,
                \(Self.followers(now: now)), a.pending, a.active, a.ended, a.behind, \(Self.silentSince("s.matchId", now: now))
            FROM shown s CROSS JOIN LATERAL (\(Self.counts)) a ORDER BY s.isOver, s.lastUpdatedAt DESC, s.matchId
            """
        ).map(SubjectSummary.init)
    }

    /// How many follow the subject `s`.
    static func followers(now: Timestamp) -> Query {
        "(SELECT count(*) FROM follows f WHERE f.matchId = s.matchId AND coalesce(f.expiresAt, 'infinity') > \(now))"
    }

    /// Of the subject `s`.
    private static let counts: Query = """
        SELECT count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'active') AS active,
            count(*) FILTER (WHERE status = 'ended') AS ended,
            count(*) FILTER (WHERE status = 'active' AND channelId IS NULL AND lastTimestampSent < s.stateTimestamp) AS behind
        FROM liveActivities WHERE matchId = s.matchId
        """

    private func pushes(now: Timestamp) async throws -> ActivityPushes {
        let to = now.flooredToMinute()
        let rows = try await pool.query(
            """
            SELECT reasonCode, sum(attempts)::bigint, sum(latencyMsSum)::bigint, sum(latencyCount)::bigint FROM attemptRollups
            WHERE minute >= \(to - .seconds(ActivityPushes.minutes * 60)) AND minute < \(to) AND eventType = 'send'
                AND pushType = 'liveactivity' AND status IN ('sent', 'failed', 'deactivated')
            GROUP BY reasonCode
            """
        ).map { try $0.decode((String, Int64, Int64, Int64).self) }
        let timed = rows.reduce(0) { $0 + $1.3 }
        return ActivityPushes(
            attempts: rows.reduce(0) { $0 + $1.1 },
            failures: Dictionary(uniqueKeysWithValues: rows.filter { !$0.0.isEmpty }.map { ($0.0, $0.1) }),
            meanLatencyMs: timed > 0 ? rows.reduce(0) { $0 + $1.2 } / timed : nil
        )
    }
}

extension SubjectSummary {
    init(_ row: Row) throws {
        let values = try row.decode((String, String?, String?, String, Bool, Timestamp, Int, Int, Int, Int, Int, Timestamp?).self)
        self.init(
            subject: values.0,
            title: values.1,
            status: values.2,
            phase: values.3,
            isOver: values.4,
            updatedAt: values.5,
            followers: values.6,
            pending: values.7,
            active: values.8,
            ended: values.9,
            behind: values.10,
            feedSilentSince: values.11
        )
    }
}
