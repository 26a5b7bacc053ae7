import Synchronization

/// Where the searches of one process for rows of `pushOutcomes` without a number begin. Those of rows that have one stay in the index as long
/// as an old snapshot is open. Safe to use from any task.
final class OutcomeSearch: Sendable {
    private struct State {
        var lookBack = LookBack<Int64>()
        var reached: Int64 = 0
    }

    private let state = Mutex(State())

    /// The identity of the first row that this search has to look at.
    func next() -> Int64 {
        state.withLock { state in state.lookBack.next(from: state.reached) ?? 0 }
    }

    /// A search has found all rows up to `last` that were committed then.
    func reach(_ last: Int64) {
        state.withLock { $0.reached = max($0.reached, last + 1) }
    }
}
