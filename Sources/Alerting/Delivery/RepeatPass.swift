import AlertRules
import Foundation
import Postgres
import PushContract

/// Tells receivers again of alerts that go on and that nobody acknowledged, as often as each is configured to be told.
struct RepeatPass {
    let pool: PostgresPool
    let lease: AlertLease
    let receivers: ReceiverSet
    let now: Timestamp

    func run() async throws {
        for receiver in receivers.receivers {
            guard let after = receiver.policy.repeatAfter else { continue }
            let due = try await pool.query(
                """
                SELECT e.episodeId FROM alertEpisodes e
                WHERE e.state = 'firing' AND e.acknowledgedAt IS NULL AND e.silencedBy IS NULL
                  AND EXISTS (SELECT FROM alertOutbox o WHERE o.episodeId = e.episodeId AND o.receiver = \(receiver.name)
                                AND o.kind = 'firing' AND o.state = 'delivered')
                  AND NOT EXISTS (SELECT FROM alertOutbox o WHERE o.episodeId = e.episodeId AND o.receiver = \(receiver.name)
                                    AND (o.state = 'pending' OR o.settledAt > \(now - .seconds(Int64(after.minutes) * 60))))
                """
            ).map { try $0.decode(UUID.self) }
            for id in due {
                try await pool.withTransaction { transaction in
                    try await AlertLeaseStore.fence(lease, in: transaction)
                    try await transaction.execute("SELECT FROM alertEpisodes WHERE episodeId = \(id) FOR UPDATE")
                    try await EpisodeStore.tell(id, .repeated, receivers: [receiver.name], at: now, in: transaction)
                }
            }
        }
    }
}
