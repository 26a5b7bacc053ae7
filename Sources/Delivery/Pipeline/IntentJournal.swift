import CoreMetrics
import Logging
import Metrics
import Postgres
import ServiceKit

/// Records pushes before they are sent, many at once, so that each has its attempt whatever becomes of this process.
struct IntentJournal: Sendable {
    /// Pushes of a group: the more, the cheaper; the fewer, the sooner the first may be sent.
    private static let groupLimit = 1024
    /// A push whose intent could not be recorded is tried again after this.
    static let pause = Duration.seconds(1)
    /// Pushes that waited because their intent could not be recorded.
    private static let notSaved = Counter(label: "pushwatch_live_intents_not_saved_total")

    private let openIntents: OpenGroups
    private let batcher: GroupCommit<AttemptIdentity, Int64?>
    private let store: IntentStore
    private let owner: String

    init(store: IntentStore, open: OpenGroups, owner: String, logger: Logger) {
        openIntents = open
        self.store = store
        self.owner = owner
        batcher = GroupCommit(limit: IntentJournal.groupLimit) { intents in
            let number = open.open(intents.count)
            do {
                try await store.save(intents, owner: owner, number: number)
                return Array(repeating: number, count: intents.count)
            } catch {
                open.drop(number)
                IntentJournal.notSaved.increment(by: intents.count)
                logger.warning(
                    "pushes wait: their intents could not be recorded",
                    metadata: ["count": "\(intents.count)", "error": "\(error)"]
                )
                return Array(repeating: nil, count: intents.count)
            }
        }
    }

    /// The number of the group in which the push is recorded: it may be sent now. Nil: it must not.
    func save(_ intent: AttemptIdentity) async -> Int64? { await batcher.submit(intent) }

    /// A recorded push is not sent after all.
    func withdraw(_ number: Int64) { openIntents.answer([number]) }

    /// Deletes groups whose outcomes are all written.
    func sweep() async throws {
        let answered = openIntents.answered
        guard !answered.isEmpty else { return }
        try await store.forget(answered, owner: owner)
        openIntents.discard(answered)
    }

    func open() { batcher.open() }
    func run() async { await batcher.run() }
    func close() { batcher.close() }
}
