import AlertRules
import Postgres
package import PushContract

/// One source of live subjects, such as a score feed.
package struct FeedSample: Sendable, Hashable {
    /// A feed's URL without the query; `pushed: ` and the matchId, or the type of other subjects.
    package var feed: String
    package var subjects: Int32
    /// Followers of those of them that it has not confirmed for too long.
    package var followers: Int64
    package var silentSeconds: Int64

    package init(feed: String, subjects: Int32, followers: Int64, silentSeconds: Int64) {
        self.feed = feed
        self.subjects = subjects
        self.followers = followers
        self.silentSeconds = silentSeconds
    }
}

/// The sources of all live subjects.
package typealias FeedSampling = @Sendable (Timestamp) async throws -> [FeedSample]

/// Keeps `feedMinutes`: one sample for each feed and minute in which an instance evaluates.
enum FeedSeries {
    static let name = "feeds"
    /// How long samples of a feed without live subjects are written: longer than any rule needs for a recovery.
    private static let over = Duration.seconds(2 * 3600)
    private static let retention = Duration.seconds(35 * 86_400)

    /// The first sample of a minute stays. A feed that was sampled before and is not any more affects nobody.
    static func add(_ samples: [FeedSample], at now: Timestamp, on session: any PostgresSession) async throws {
        let minute = now.flooredToMinute()
        try await session.execute(
            """
            INSERT INTO feedMinutes (minute, feed, subjects, followers, silentSeconds)
            SELECT \(minute)::timestamptz, s.* FROM unnest(
                \(samples.map(\.feed)), \(samples.map(\.subjects)), \(samples.map(\.followers)), \(samples.map(\.silentSeconds))
            ) AS s (feed, subjects, followers, silentSeconds)
            UNION ALL
            SELECT DISTINCT \(minute)::timestamptz, k.feed, 0, 0, 0 FROM feedMinutes k
            WHERE k.subjects > 0 AND k.feed <> ALL(\(samples.map(\.feed)))
              AND k.minute > (SELECT max(minute) FROM feedMinutes WHERE minute < \(minute)) - \(over.inSeconds) * interval '1 second'
            ON CONFLICT DO NOTHING
            """
        )
        try await session.execute("DELETE FROM feedMinutes WHERE minute < \(now - retention)")
    }

    static func rows(from first: Minute, through last: Minute, on session: any PostgresSession) async throws -> [KeyedCounts] {
        try await session.query(
            """
            SELECT minute, feed, followers FROM feedMinutes WHERE minute >= \(first.timestamp) AND minute <= \(last.timestamp)
            """
        ).map {
            let (minute, feed, followers) = try $0.decode((Timestamp, String, Int64).self)
            return KeyedCounts(key: GroupKey([.feed: feed]), minute: Minute(minute), attempts: 1, bad: followers)
        }
    }
}
