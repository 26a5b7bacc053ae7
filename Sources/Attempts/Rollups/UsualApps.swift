package import Postgres
package import PushContract

/// The apps that have sent steadily for a day. Synthetic names that come in between, at the start of a day or after a restart, take no
/// place of theirs.
package enum UsualApps {
    /// At most `limit` apps: those that were counted apart in the most hours of the day before `now`, then those with the most attempts.
    package static func read(limit: Int, before now: Timestamp, on session: any PostgresSession) async throws -> Set<String> {
        Set(
            try await session.query(
                """
                SELECT app FROM attemptRollups
                WHERE minute >= \(now - .seconds(86_400)) AND minute <= \(now) AND app NOT IN ('', \(FoldedLabels.other))
                GROUP BY app
                ORDER BY count(DISTINCT date_bin('1 hour', minute, 'epoch')) DESC, sum(attempts) DESC, app
                LIMIT \(limit)
                """
            ).map { try $0.decode(String.self) }
        )
    }
}
