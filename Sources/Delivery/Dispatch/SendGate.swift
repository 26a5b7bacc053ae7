import PushContract
import Synchronization

/// What this process knows of holds and pauses: read with each sweep, and told at once what its own outcomes opened.
final class SendGate: Sendable {
    private struct State {
        var circuits: [Circuit] = []
        var pauses: [RateLimitPause] = []
        /// Of the database's clock against this machine's.
        var offset = Duration.zero
    }

    private let state = Mutex(State())

    var circuits: [Circuit] { state.withLock { $0.circuits } }

    /// How many of a queue may be under way at `now` by this machine's clock.
    func slots(of queue: SendQueue, capacity: Int, ramp: Duration, now: Timestamp) -> Int {
        state.withLock { state in
            let pause = state.pauses.first { $0.applies(to: queue) }
            return RateLimitDecision.slots(pause, capacity: capacity, ramp: ramp, now: now + state.offset)
        }
    }

    /// - Parameter offset: of the database's clock against this machine's.
    func replace(circuits: [Circuit], pauses: [RateLimitPause], offset: Duration) {
        state.withLock { $0 = State(circuits: circuits, pauses: pauses, offset: offset) }
    }

    func add(_ report: CompletionReport) {
        guard !report.opened.isEmpty || !report.paused.isEmpty || !report.closed.isEmpty else { return }
        state.withLock { state in
            let opened = Set(report.opened.map(\.id))
            state.circuits.removeAll { opened.contains($0.id) || report.closed.contains($0.id) }
            state.circuits += report.opened
            for pause in report.paused {
                state.pauses.removeAll { $0.provider == pause.provider && $0.app == pause.app }
                state.pauses.append(pause)
            }
        }
    }
}
