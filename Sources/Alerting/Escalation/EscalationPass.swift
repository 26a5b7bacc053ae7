import Foundation
import Logging
import Postgres
import PushContract

/// Takes the steps of escalation that are due: queues notifications for further receivers, which the notifier delivers.
struct EscalationPass {
    let pool: PostgresPool
    let lease: AlertLease
    let receivers: ReceiverSet
    let logger: Logger
    let now: Timestamp

    func run() async throws {
        guard let policy = receivers.escalation else { return }
        let people = receivers.people
        for (id, seen) in try await EscalationStore.waiting(people: people.sorted(), steps: policy.steps.count, on: pool)
        where policy.next(after: seen, people: people, at: now) != nil {
            let taken = try await pool.withTransaction { transaction -> EscalationPolicy.Escalation? in
                try await AlertLeaseStore.fence(lease, in: transaction)
                try await transaction.execute("SELECT FROM alerts WHERE alertId = \(id) FOR UPDATE")
                // It may have been acknowledged, or be over, since it was seen.
                guard let state = try await EscalationStore.state(of: id, people: people.sorted(), on: transaction),
                    let escalation = policy.next(after: state, people: people, at: now)
                else { return nil }
                if escalation.reason == .noReceiver, try await notifyReceivers(of: id, in: transaction) { return nil }
                try await EscalationStore.escalate(id, escalation, lease: lease, at: now, in: transaction)
                return escalation
            }
            guard let taken else { continue }
            logger.warning(
                "a page is escalated",
                metadata: [
                    "alertId": "\(id.uuidString.lowercased())", "step": "\(taken.step)", "reason": "\(taken.reason.rawValue)",
                    "receivers": "\(taken.receivers.joined(separator: ","))",
                ]
            )
        }
    }

    /// Notifies the receivers that the routes name now of a page that reached nobody; false where none of them notifies people.
    private func notifyReceivers(of id: UUID, in transaction: any PostgresSession) async throws -> Bool {
        guard let page = try await AlertStore.alert(id, on: transaction) else { return false }
        let names = try await receivers.names(forUnnotified: page, in: transaction)
        guard !receivers.people.isDisjoint(with: names) else { return false }
        return try await AlertWriter(transaction: transaction, lease: lease, now: now)
            .enqueueUnnotified(id, receivers: names, configured: receivers.receivers.map(\.name)) > 0
    }
}
