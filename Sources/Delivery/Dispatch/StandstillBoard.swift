import PushContract
import Synchronization

/// What this process knows of holds and pauses: read with each sweep, and told at once what its own outcomes opened.
final class StandstillBoard: Sendable {
    private struct State {
        var holds: [SendHold] = []
        var pauses: [LanePause] = []
        /// Of the database's clock against this machine's.
        var offset = Duration.zero
    }

    private let state = Mutex(State())

    var holds: [SendHold] { state.withLock { $0.holds } }

    /// How many of a lane may be under way at `now` by this machine's clock.
    func places(of lane: Lane, capacity: Int, ramp: Duration, now: Timestamp) -> Int {
        state.withLock { state in
            let pause = state.pauses.first { $0.applies(to: lane) }
            return PauseDecision.places(pause, capacity: capacity, ramp: ramp, now: now + state.offset)
        }
    }

    /// - Parameter offset: of the database's clock against this machine's.
    func replace(holds: [SendHold], pauses: [LanePause], offset: Duration) {
        state.withLock { $0 = State(holds: holds, pauses: pauses, offset: offset) }
    }

    func add(_ report: CompletionReport) {
        guard !report.opened.isEmpty || !report.paused.isEmpty || !report.released.isEmpty else { return }
        state.withLock { state in
            let opened = Set(report.opened.map(\.id))
            state.holds.removeAll { opened.contains($0.id) || report.released.contains($0.id) }
            state.holds += report.opened
            for pause in report.paused {
                state.pauses.removeAll { $0.provider == pause.provider && $0.app == pause.app }
                state.pauses.append(pause)
            }
        }
    }
}
