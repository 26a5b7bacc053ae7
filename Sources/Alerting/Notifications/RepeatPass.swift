import AlertRules
import Foundation
import Postgres
import PushContract

/// Repeats notifications of alerts that still fire and are not acknowledged, as often as each receiver is configured.
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
                SELECT e.alertId FROM alerts e
                WHERE e.state = 'firing' AND e.acknowledgedAt IS NULL AND e.silencedBy IS NULL
                  AND EXISTS (SELECT FROM notifications o WHERE o.alertId = e.alertId AND o.receiver = \(receiver.name)
                                AND o.kind IN ('firing', 'reopened') AND o.state = 'delivered')
                  AND NOT EXISTS (SELECT FROM notifications o WHERE o.alertId = e.alertId AND o.receiver = \(receiver.name)
                                    AND (o.state = 'pending' OR o.settledAt > \(now - .seconds(Int64(after.minutes) * 60))))
                """
            ).map { try $0.decode(UUID.self) }
            for id in due {
                try await pool.withTransaction { transaction in
                    try await AlertLeaseStore.fence(lease, in: transaction)
                    try await transaction.execute("SELECT FROM alerts WHERE alertId = \(id) FOR UPDATE")
                    try await AlertStore.notify(id, .repeated, receivers: [receiver.name], at: now, in: transaction)
                }
            }
        }
    }
}
