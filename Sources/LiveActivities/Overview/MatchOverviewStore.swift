import Delivery
package import Postgres
package import PushContract

/// The matches there are, each with the number of its followers and of their activities by status.
package struct MatchOverviewStore: Sendable {
    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    package struct Entry: Encodable, Sendable {
        package var matchId: String
        package var phase: String
        package var title: String?
        package var status: String?
        package var updatedAt: Timestamp
        /// When its feed last said that this is the state.
        package var confirmedAt: Timestamp
        package var feed: FeedState
        package var followers: Int
        package var pending: Int
        package var active: Int
        package var ended: Int
        /// Active ones that have not been sent the newest state yet; those that listen to a channel are not counted.
        package var behind: Int
    }

    package func matches(limit: Int = 100, now: Timestamp) async throws -> [Entry] {
        try await pool.query(
            """
            WITH shown AS MATERIALIZED (
                SELECT * FROM activeMatches ORDER BY phase IN ('ended', 'abandoned'), lastUpdatedAt DESC, matchId LIMIT \(limit)
            )
            SELECT m.matchId, m.phase, m.displayState::jsonb->>'title', m.displayState::jsonb->>'status', m.lastUpdatedAt, m.confirmedAt,
                s.isLive, s.freshFor, s.silentAfter,
                (SELECT count(*) FROM follows f WHERE f.matchId = m.matchId), a.pending, a.active, a.ended, a.behind
            FROM shown m JOIN subjectSources s ON s.subject = m.matchId CROSS JOIN LATERAL (
                SELECT count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'active') AS active,
                    count(*) FILTER (WHERE status = 'ended') AS ended,
                    count(*) FILTER (WHERE status = 'active' AND channelId IS NULL AND lastTimestampSent < m.stateTimestamp) AS behind
                FROM liveActivities WHERE matchId = m.matchId
            ) a
            ORDER BY m.phase IN ('ended', 'abandoned'), m.lastUpdatedAt DESC, m.matchId
            """
        ).map { row in
            let values = try row.decode(
                (String, String, String?, String?, Timestamp, Timestamp, Bool, Int32, Int32, Int, Int, Int, Int, Int).self
            )
            return Entry(
                matchId: values.0,
                phase: values.1,
                title: values.2,
                status: values.3,
                updatedAt: values.4,
                confirmedAt: values.5,
                feed: FeedState(values.6, values.5, values.7, values.8, now: now),
                followers: values.9,
                pending: values.10,
                active: values.11,
                ended: values.12,
                behind: values.13
            )
        }
    }
}
