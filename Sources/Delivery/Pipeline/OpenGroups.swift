import Synchronization

/// Which groups of pushes of this process still wait for outcomes: intents that were recorded together, or deliveries that were leased
/// together. Safe to use from any thread.
final class OpenGroups: Sendable {
    private struct State {
        var last: Int64 = 0
        /// Pushes of a group that have no outcome yet.
        var open: [Int64: Int] = [:]
        /// Groups with an outcome that could not be written: they stay where they are, and become attempts of unknown outcome.
        var abandoned: Set<Int64> = []
        /// Groups of which nothing is left to write, still in the database.
        var answered: Set<Int64> = []

        mutating func answer(_ number: Int64) {
            guard let count = open[number] else { return }
            open[number] = count > 1 ? count - 1 : nil
            guard count == 1, abandoned.remove(number) == nil else { return }
            answered.insert(number)
        }
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
            for number in numbers { state.answer(number) }
        }
    }

    /// The same for groups whose numbers are not of `open`, each with the pushes it has had from its beginning.
    func answer(_ groups: [(number: Int64, size: Int)]) {
        state.withLock { state in
            for group in groups {
                if state.open[group.number] == nil { state.open[group.number] = group.size }
                state.answer(group.number)
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
    var answered: [Int64] { state.withLock { $0.answered.sorted() } }

    func discard(_ numbers: [Int64]) { state.withLock { $0.answered.subtract(numbers) } }
}
