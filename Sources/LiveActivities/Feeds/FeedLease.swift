import Postgres
import PushContract

/// Who polls which feed: a lease on its row, by the database's clock.
struct FeedLease: Sendable {
    /// Beyond the time to the next question.
    static let margin: Duration = .seconds(15)

    private static let columns = RowLease(owner: "feedOwner", until: "feedLeaseUntil", epoch: "feedEpoch", table: "f")

    let pool: PostgresPool
    let owner: String

    /// Whether this instance may ask the feed now.
    func claim(_ url: String, for duration: Duration = margin) async throws -> Bool {
        try await !pool.query(
            """
            INSERT INTO scoreFeeds AS f (feedUrl, feedOwner, feedLeaseUntil, feedEpoch)
            VALUES (\(url), \(owner), \(RowLease.end(of: duration)), 1)
            ON CONFLICT (feedUrl) DO UPDATE SET \(FeedLease.columns.assign(to: owner, for: duration))
            WHERE \(FeedLease.columns.isAvailable(to: owner))
            RETURNING 1
            """
        ).isEmpty
    }

    /// Lets another instance begin at once.
    func release() async throws {
        try await pool.execute("UPDATE scoreFeeds SET feedLeaseUntil = NULL WHERE feedOwner = \(owner)")
    }
}
