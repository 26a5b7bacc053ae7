import Synchronization

/// Where the searches of one process for rows of `pushOutcomes` without a number begin: behind those that all have one, or never will. Rows
/// that have one stay in the index as long as an old snapshot is open, so a search from the beginning would read all of them; one that
/// passed a row whose transaction had not ended would number later ones before it. Safe to use from any task.
final class OutcomeSearch: Sendable {
    struct Turn {
        /// The identity of the first row to look at.
        var start: Int64
        /// What this search, which begins afterwards, cannot miss.
        fileprivate var visible: Int64
        fileprivate var opened: Int
        fileprivate var epoch: Int
    }

    private struct State {
        var start: Int64 = 0
        var positions = VisiblePositions()
        var opened = 0
        /// Changes when everything is to be searched again.
        var epoch = 0
        var turns = 0
    }

    /// One search of so many begins at the beginning: after a failover that lost rows, others with their identities may have been written
    /// before the next look, which then cannot see that.
    private static let fullEvery = 1024

    private let state = Mutex(State())

    /// Before a search begins.
    func begin() -> Turn {
        state.withLock { state in
            state.turns += 1
            let start = state.turns.isMultiple(of: Self.fullEvery) ? 0 : state.start
            return Turn(start: start, visible: state.positions.last, opened: state.opened, epoch: state.epoch)
        }
    }

    /// - Parameters:
    ///   - last: the identity of the last row that this search sees.
    ///   - writers: the transactions that have the table locked, read after that.
    func note(last: Int64, writers: Set<String>, in turn: Turn) {
        state.withLock { state in
            // Another search has looked since, and what this one has read may be older.
            guard turn.opened == state.opened else { return }
            // The database is an earlier state of itself, or everything was removed.
            if last < state.positions.open?.position ?? 0 { state = State(opened: state.opened + 1, epoch: state.epoch + 1) }
            if state.positions.note(last, writers: writers) { state.opened += 1 }
        }
    }

    /// All rows from the start of this turn that it sees have a number.
    func end(_ turn: Turn) {
        state.withLock { state in
            guard turn.epoch == state.epoch else { return }
            state.start = max(state.start, turn.visible + 1)
        }
    }
}
