package import Postgres
import PushContract

/// Reads what was told to whom: the latest tries of every receiver, and what still waits.
package struct DeliveriesStore: Sendable {
    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    func read() async throws -> DeliveriesData {
        DeliveriesData(tries: try await tries(), open: try await open())
    }

    private func tries() async throws -> [DeliveriesData.Try] {
        try await pool.query(
            """
            SELECT delivery.episodeId::text, episode.rule, receiver, result, attemptedAt, status, latencyMs, error
            FROM (SELECT * FROM alertDeliveries ORDER BY deliveryId DESC LIMIT 100) AS delivery
            LEFT JOIN alertEpisodes AS episode USING (episodeId)
            ORDER BY deliveryId DESC
            """
        ).map { row in
            let values = try row.decode((String, String?, String, String, Timestamp, Int?, Int, String?).self)
            return DeliveriesData.Try(
                episodeId: values.0,
                rule: values.1,
                receiver: values.2,
                result: values.3,
                attemptedAt: values.4,
                status: values.5,
                latencyMs: values.6,
                error: values.7
            )
        }
    }

    private func open() async throws -> [DeliveriesData.Open] {
        try await pool.query(
            """
            SELECT outbox.episodeId::text, episode.rule, receiver, kind, outbox.state, attempts, nextAttemptAt, lastError
            FROM alertOutbox AS outbox JOIN alertEpisodes AS episode USING (episodeId)
            WHERE outbox.state IN ('pending', 'parked') ORDER BY outbox.createdAt DESC LIMIT 100
            """
        ).map { row in
            let values = try row.decode((String, String, String, String, String, Int, Timestamp, String?).self)
            return DeliveriesData.Open(
                episodeId: values.0,
                rule: values.1,
                receiver: values.2,
                kind: values.3,
                state: values.4,
                attempts: values.5,
                nextAttemptAt: values.6,
                error: values.7
            )
        }
    }
}

/// What was told to whom.
struct DeliveriesData {
    struct Try: Hashable {
        var episodeId: String
        var rule: String?
        var receiver: String
        var result: String
        var attemptedAt: Timestamp
        var status: Int?
        var latencyMs: Int
        var error: String?
    }

    /// A message that was not delivered yet, or never will be.
    struct Open: Hashable {
        var episodeId: String
        var rule: String
        var receiver: String
        var kind: String
        var state: String
        var attempts: Int
        var nextAttemptAt: Timestamp
        var error: String?
    }

    var tries: [Try]
    var open: [Open]
}
