import Metrics
import PushContract
import Synchronization

/// What a process can derive about the ledger without a query: which keys the frozen generations certainly lack. It saves statements and
/// never decides: without it the result is the same.
///
/// Safe to use from any task.
package final class LedgerHints: Sendable {
    /// Keys that frozen generations may hold, and which.
    struct Suspects {
        var keys: [AttemptKey] = []
        var generations: [Int32] = []
    }

    private struct State {
        var filters: [FrozenGeneration: BloomFilter] = [:]
        /// Those for which there is no memory; true: it was reported.
        var leftOut: [FrozenGeneration: Bool] = [:]
        /// As they were in the last transaction that looked.
        var generations: LedgerGenerations?
    }

    private let state = Mutex(State())
    private static let lookedUp = Counter(label: "pushwatch_ledger_looked_up_keys_total")

    package init() {}

    /// Which of `keys` the frozen generations may hold. All of them where a filter is not there: the caller has read `generations` in its
    /// own transaction, so that a rotation by another process is never missed.
    func suspects(_ keys: [AttemptKey], of generations: LedgerGenerations) -> Suspects {
        let filters = state.withLock { $0.filters }
        let masks = keys.map(BloomFilter.mask)
        var isSuspect = Array(repeating: false, count: keys.count)
        var suspects = Suspects()
        for generation in generations.frozen {
            var isNeeded = false
            if let filter = filters[generation] {
                if filter.count == 0 { continue }
                filter.find(keys, masks: masks) {
                    isSuspect[$0] = true
                    isNeeded = true
                }
            } else {
                for index in keys.indices { isSuspect[index] = true }
                isNeeded = true
            }
            if isNeeded { suspects.generations.append(generation.number) }
        }
        if suspects.generations.isEmpty { return suspects }
        suspects.keys = keys.indices.filter { isSuspect[$0] }.map { keys[$0] }
        LedgerHints.lookedUp.increment(by: suspects.keys.count)
        return suspects
    }

    /// The generations as a transaction has seen them last; a writer that relies on them makes sure in its own transaction.
    var generations: LedgerGenerations? { state.withLock { $0.generations } }

    func record(_ generations: LedgerGenerations) { state.withLock { $0.generations = generations } }

    func hasFilter(of generation: FrozenGeneration) -> Bool { state.withLock { $0.filters[generation] != nil } }

    /// Whether one is to be loaded or made.
    func needsFilter(of generation: FrozenGeneration) -> Bool {
        state.withLock { $0.filters[generation] == nil && $0.leftOut[generation] == nil }
    }

    func use(_ filter: BloomFilter, of generation: FrozenGeneration) { state.withLock { $0.filters[generation] = filter } }

    func leaveOut(_ generation: FrozenGeneration) { state.withLock { $0.leftOut[generation] = false } }

    /// Those that `leaveOut` named since this was asked last.
    func takeLeftOut() -> [FrozenGeneration] {
        state.withLock { state in
            let new = state.leftOut.filter { !$0.value }.map(\.key)
            for generation in new { state.leftOut[generation] = true }
            return new
        }
    }

    /// Frees the memory of other generations; what was left out for want of it may then have space.
    func forgetOthers(of generations: LedgerGenerations) {
        state.withLock { state in
            let live = Set(generations.frozen)
            let (filters, leftOut) = (state.filters.filter { live.contains($0.key) }, state.leftOut.filter { live.contains($0.key) })
            if filters.count < state.filters.count || leftOut.count < state.leftOut.count { state.leftOut = [:] }
            state.filters = filters
        }
    }

    var filterBytes: Int { state.withLock { $0.filters.values.reduce(0) { $0 + $1.bytes.count } } }
}
