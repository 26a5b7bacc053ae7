import CoreMetrics
import Logging
import Postgres
package import ServiceKit

/// Keeps pushes before they leave, many at once, so that each has its attempt whatever becomes of this process.
struct IntentJournal: Sendable {
    /// Pushes of a group: the more, the cheaper; the fewer, the sooner the first may leave.
    static let groupLimit = 256

    let open: OpenIntents
    private let gatherer: GroupCommit<PushIntent, Int64?>
    private let store: IntentStore
    private let owner: String

    init(store: IntentStore, open: OpenIntents, owner: String, logger: Logger) {
        self.open = open
        self.store = store
        self.owner = owner
        gatherer = GroupCommit(limit: IntentJournal.groupLimit) { intents in
            let number = open.open(intents.count)
            do {
                try await store.save(intents, owner: owner, number: number)
                return Array(repeating: number, count: intents.count)
            } catch {
                open.drop(number)
                LiveMetrics.intentsNotSaved.increment(by: intents.count)
                logger.warning(
                    "pushes wait: that they leave could not be written down",
                    metadata: ["count": "\(intents.count)", "error": "\(error)"]
                )
                return Array(repeating: nil, count: intents.count)
            }
        }
    }

    /// The number of the group the push is kept in: it may leave now. Nil: it must not.
    func save(_ intent: PushIntent) async -> Int64? { await gatherer.submit(intent) }

    /// A kept push does not leave after all.
    func withdraw(_ number: Int64) { open.answer([number]) }

    /// Deletes groups of which nothing is left to write; usually that happens with the last of their outcomes.
    func sweep() async throws {
        let answered = open.answered
        guard !answered.isEmpty else { return }
        try await store.forget(answered, owner: owner)
        open.forgot(answered)
    }

    func start() async { await gatherer.open() }
    func run() async { await gatherer.run() }
    func close() async { await gatherer.close() }
}
