import AlertRules
import Postgres
import PushContract

/// Notifies the receivers that the routes name now of pages that reach nobody: when they fired, the routes led to logs only, or to
/// receivers that were removed or renamed since.
struct UnnotifiedPass {
    let pool: PostgresPool
    let lease: AlertLease
    let receivers: ReceiverSet
    let now: Timestamp

    func run() async throws {
        let people = receivers.people.sorted()
        guard !people.isEmpty else { return }
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            let pages = try await AlertStore.unnotifiedPages(people: people, in: transaction)
            guard !pages.isEmpty else { return }
            // A receiver that does not work is not notified of that.
            let failing = Set(try await AlertStore.open(on: transaction).filter(\.isBuiltIn).compactMap { $0.labels["receiver"] })
            let writer = AlertWriter(transaction: transaction, lease: lease, now: now)
            for page in pages { try await writer.enqueueUnnotified(page.id, receivers: names(for: page, failing)) }
        }
    }

    private func names(for page: Alert, _ failing: Set<String>) -> [String] {
        guard page.isBuiltIn else { return receivers.names(for: page) }
        return receivers.names(for: page.severity, rule: page.rule, labels: page.labels, except: failing)
    }
}
