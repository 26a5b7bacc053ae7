import Synchronization

/// Which groups of intents of this process still wait for outcomes. Safe to use from any thread.
final class OpenIntents: Sendable {
    private struct State {
        var last: Int64 = 0
        /// Pushes of a group that have no outcome yet.
        var open: [Int64: Int] = [:]
        /// Groups with an outcome that could not be written: they stay where they are, and become attempts of unknown outcome.
        var abandoned: Set<Int64> = []
        /// Groups of which nothing is left to write, still in the database.
        var answered: Set<Int64> = []
    }

    private let state = Mutex(State())

    /// A number for a group of so many pushes.
    func open(_ count: Int) -> Int64 {
        state.withLock { state in
            state.last += 1
            state.open[state.last] = count
            return state.last
        }
    }

    /// A group that was not kept: none of its pushes leaves. It may be in the database all the same, when the answer was lost.
    func drop(_ number: Int64) {
        state.withLock { state in
            state.open[number] = nil
            state.answered.insert(number)
        }
    }

    /// An outcome of each of these groups is being written, or nothing left after all.
    func answer(_ numbers: [Int64]) {
        state.withLock { state in
            for number in numbers {
                guard let count = state.open[number] else { continue }
                state.open[number] = count > 1 ? count - 1 : nil
                guard count == 1, state.abandoned.remove(number) == nil else { continue }
                state.answered.insert(number)
            }
        }
    }

    /// An outcome of this group is lost.
    func abandon(_ number: Int64) {
        state.withLock { state in
            state.answered.remove(number)
            if state.open[number] != nil { state.abandoned.insert(number) }
        }
    }

    /// What may be deleted now.
    var answered: [Int64] { state.withLock { Array($0.answered) } }

    func discard(_ numbers: [Int64]) { state.withLock { $0.answered.subtract(numbers) } }
}
