import Postgres
import PushContract

/// Who polls the feed of which match: a lease on the match's row, by the database's clock.
struct FeedLease: Sendable {
    /// Beyond the time to the next question.
    static let margin: Duration = .seconds(15)

    let pool: PostgresPool
    let owner: String

    /// Whether this instance may ask the feed now. A feed no match is known of yet may be asked by anybody: the states order themselves.
    func claim(_ url: String, for duration: Duration = margin) async throws -> Bool {
        let claimed = try await pool.query(
            """
            UPDATE activeMatches SET feedOwner = \(owner), feedLeaseUntil = clock_timestamp() + \(duration.inSeconds) * interval '1 second',
                feedEpoch = feedEpoch + (feedOwner IS DISTINCT FROM \(owner) OR feedLeaseUntil < clock_timestamp())::integer
            WHERE feedUrl = \(url) AND (feedOwner IS NULL OR feedOwner = \(owner) OR feedLeaseUntil IS NULL
                OR feedLeaseUntil < clock_timestamp())
            RETURNING matchId
            """
        )
        if !claimed.isEmpty { return true }
        return try await pool.query("SELECT 1 FROM activeMatches WHERE feedUrl = \(url) LIMIT 1").isEmpty
    }

    /// Lets another instance begin at once.
    func release() async throws {
        try await pool.execute("UPDATE activeMatches SET feedLeaseUntil = NULL WHERE feedOwner = \(owner)")
    }
}
