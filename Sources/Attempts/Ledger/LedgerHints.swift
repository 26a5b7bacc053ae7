import PushContract
import Synchronization

/// What a process knows of the ledger without a query: which keys the frozen generation certainly lacks, and whether duplicates are
/// likely. It saves statements and never decides: without it the result is the same.
///
/// Safe to use from any task.
package final class LedgerHints: Sendable {
    private struct State {
        var frozen: (generation: LedgerGenerations, filter: BloomFilter)?
        /// As they were in the last transaction that looked.
        var generations: LedgerGenerations?
        /// Batches that are to be written the way that bears duplicates well.
        var cautiousBatches = 0
        var nextCautiousBatches = 8
    }

    private let state = Mutex(State())

    package init() {}

    /// Which of `keys` the previous generation may hold. All of them while its filter is not there, or is that of another generation:
    /// the caller has read `generations` in its own transaction, so that a rotation by another process is never missed.
    func candidates(_ keys: [AttemptKey], previousOf generations: LedgerGenerations) -> [AttemptKey] {
        guard let filter = filter(of: generations) else { return keys }
        return filter.count == 0 ? [] : keys.filter(filter.mayContain)
    }

    /// The generations as a transaction has seen them last; a writer that relies on them makes sure in its own transaction.
    var generations: LedgerGenerations? { state.withLock { $0.generations } }

    func record(_ generations: LedgerGenerations) { state.withLock { $0.generations = generations } }

    func hasFilter(of generations: LedgerGenerations) -> Bool { filter(of: generations) != nil }

    func use(_ filter: BloomFilter, previousOf generations: LedgerGenerations) { state.withLock { $0.frozen = (generations, filter) } }

    private func filter(of generations: LedgerGenerations) -> BloomFilter? {
        state.withLock { $0.frozen.flatMap { $0.generation == generations ? $0.filter : nil } }
    }

    /// Whether the next batch is likely all new.
    func expectsNewKeys() -> Bool {
        state.withLock { state in
            if state.cautiousBatches == 0 { return true }
            state.cautiousBatches -= 1
            return false
        }
    }

    /// A batch had known keys: clients repeat themselves, so the next batches will too. Longer each time, at most 512.
    func foundDuplicates() {
        state.withLock { state in
            state.cautiousBatches = state.nextCautiousBatches
            state.nextCautiousBatches = min(512, state.nextCautiousBatches * 2)
        }
    }

    func foundNewKeysOnly() { state.withLock { $0.nextCautiousBatches = 8 } }
}
