package import Postgres
package import PushContract

/// Reads the states of the sources of live subjects: score feeds, and services that send states with `freshFor`. Safe to use from any task.
package struct FeedHealthStore: Sendable {
    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    package struct Feed: Sendable, Hashable {
        /// A feed's URL without the query; `pushed: ` and the matchId, or the type of other subjects.
        package var name: String
        /// Live subjects of it.
        package var subjects: Int32
        /// Followers of those of them that it has not confirmed for too long.
        package var followers: Int64
        /// Since the subject that was confirmed longest ago was confirmed.
        package var silentSeconds: Int64
    }

    package func feeds(now: Timestamp) async throws -> [Feed] {
        try await pool.query(
            """
            SELECT source, count(*)::integer, coalesce(sum(followers), 0)::bigint, max(silent)::bigint FROM (
                SELECT m.source, s.silent, CASE WHEN s.silent >= m.affectsAfter THEN
                        (SELECT count(*) FROM follows f WHERE f.matchId = m.subject AND coalesce(f.expiresAt, 'infinity') > \(now))
                    ELSE 0 END AS followers
                FROM subjectSources m CROSS JOIN LATERAL (
                    SELECT greatest(0, floor(extract(epoch FROM \(now)::timestamptz - m.confirmedAt)))::bigint AS silent
                ) s
                WHERE m.isLive
            ) AS live GROUP BY source ORDER BY source
            """
        ).map {
            let (name, subjects, followers, silent) = try $0.decode((String, Int32, Int64, Int64).self)
            return Feed(name: name, subjects: subjects, followers: followers, silentSeconds: silent)
        }
    }
}
