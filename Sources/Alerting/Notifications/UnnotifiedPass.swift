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
            let writer = AlertWriter(transaction: transaction, lease: lease, now: now)
            for page in pages {
                try await writer.enqueueUnnotified(
                    page.id,
                    receivers: receivers.names(forUnnotified: page, in: transaction),
                    configured: receivers.receivers.map(\.name)
                )
            }
        }
    }
}

extension ReceiverSet {
    /// The receivers of a page that reached nobody: those that the routes name now.
    func names(forUnnotified page: Alert, in transaction: any PostgresSession) async throws -> [String] {
        guard page.isBuiltIn else { return names(for: page) }
        // A receiver that does not work is not notified of that.
        let failing = Set(try await AlertStore.open(on: transaction).filter(\.isBuiltIn).compactMap { $0.labels["receiver"] })
        return names(for: page.severity, rule: page.rule, labels: page.labels, except: failing)
    }
}
