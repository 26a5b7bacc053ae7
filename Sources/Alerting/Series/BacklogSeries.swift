import AlertRules
import Postgres
package import PushContract

/// What waits to be sent through one provider.
package struct BacklogSample: Sendable, Hashable {
    package var provider: String
    package var waiting: Int64
    package var oldestSeconds: Int64?

    package init(provider: String, waiting: Int64, oldestSeconds: Int64? = nil) {
        self.provider = provider
        self.waiting = waiting
        self.oldestSeconds = oldestSeconds
    }
}

/// What waits, by provider; every provider is named, also when nothing waits for it.
package typealias BacklogSampling = @Sendable (Timestamp) async throws -> [BacklogSample]

/// Keeps `sendBacklogMinutes`: one sample for each minute in which an instance evaluates.
enum BacklogSeries {
    static let name = "backlog"
    private static let retention = Duration.seconds(35 * 86_400)

    /// The first sample of a minute stays.
    static func add(_ samples: [BacklogSample], at now: Timestamp, on session: any PostgresSession) async throws {
        try await session.execute(
            """
            INSERT INTO sendBacklogMinutes (minute, provider, waiting, oldestSeconds)
            SELECT \(now.flooredToMinute()), provider, waiting, nullif(oldest, -1)
            FROM unnest(\(samples.map(\.provider)), \(samples.map(\.waiting)), \(samples.map { $0.oldestSeconds ?? -1 }))
                AS s (provider, waiting, oldest)
            ON CONFLICT DO NOTHING
            """
        )
        try await session.execute("DELETE FROM sendBacklogMinutes WHERE minute < \(now - retention)")
    }
}
