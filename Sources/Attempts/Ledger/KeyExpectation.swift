import Synchronization

/// Whether what comes one way (attempts, sends) is likely all new, from what the last batches were. Safe to use from any task.
package final class KeyExpectation: Sendable {
    private struct State {
        /// Batches that are to be written the way that bears duplicates well.
        var cautiousBatches = 0
        var nextCautiousBatches = 8
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the next batch is likely all new.
    package func expectsNewKeys() -> Bool {
        state.withLock { state in
            if state.cautiousBatches == 0 { return true }
            state.cautiousBatches -= 1
            return false
        }
    }

    /// A batch had known keys: clients repeat themselves, so the next batches will too. Longer each time, at most 512.
    package func foundDuplicates() {
        state.withLock { state in
            state.cautiousBatches = state.nextCautiousBatches
            state.nextCautiousBatches = min(512, state.nextCautiousBatches * 2)
        }
    }

    package func foundNewKeysOnly() { state.withLock { $0.nextCautiousBatches = 8 } }
}
