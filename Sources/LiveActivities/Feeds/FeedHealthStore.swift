package import Postgres
package import PushContract

/// Reads how the score feeds of matches stand that are being played. Safe to use from any task.
package struct FeedHealthStore: Sendable {
    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    package struct Feed: Sendable, Hashable {
        /// Its URL without the query, or `pushed: ` and the matchId.
        package var name: String
        /// Matches of it that are being played.
        package var matches: Int32
        /// Followers of those of them that it confirmed nothing of for a minute or longer.
        package var followers: Int64
        /// Since the match that was confirmed longest ago was confirmed.
        package var silentSeconds: Int64
    }

    package func feeds(now: Timestamp) async throws -> [Feed] {
        try await pool.query(
            """
            SELECT feed, count(*)::integer, coalesce(sum(followers), 0)::bigint, max(silent)::bigint FROM (
                SELECT coalesce(m.feedUrl, 'pushed: ' || m.matchId) AS feed, s.silent,
                    CASE WHEN s.silent >= \(FeedSilence.countsFollowersAfter.components.seconds) THEN
                        (SELECT count(*) FROM follows f WHERE f.matchId = m.matchId AND coalesce(f.expiresAt, 'infinity') > \(now))
                    ELSE 0 END AS followers
                FROM activeMatches m CROSS JOIN LATERAL (SELECT \(FeedSilence.seconds(now: now)) AS silent) s
                WHERE m.phase IN ('live', 'break', 'interrupted')
            ) AS playing GROUP BY feed ORDER BY feed
            """
        ).map {
            let (name, matches, followers, silent) = try $0.decode((String, Int32, Int64, Int64).self)
            return Feed(name: name, matches: matches, followers: followers, silentSeconds: silent)
        }
    }
}
