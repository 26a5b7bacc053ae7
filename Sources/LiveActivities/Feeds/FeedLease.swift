import Postgres
import PushContract

/// Who polls the feed of which match: a lease on the match's row, by the database's clock.
struct FeedLease: Sendable {
    /// Beyond the time to the next question.
    static let margin: Duration = .seconds(15)

    private static let columns = RowLease(owner: "feedOwner", until: "feedLeaseUntil", epoch: "feedEpoch")

    let pool: PostgresPool
    let owner: String

    /// Whether this instance may ask the feed now. A feed no match is known of yet may be asked by anybody: the states order themselves.
    func claim(_ url: String, for duration: Duration = margin) async throws -> Bool {
        let claimed = try await pool.query(
            """
            UPDATE activeMatches SET \(FeedLease.columns.assign(to: owner, for: duration))
            WHERE feedUrl = \(url) AND \(FeedLease.columns.isAvailable(to: owner))
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
