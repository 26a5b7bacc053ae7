import ServiceKit
import Synchronization

/// Lets so many work at a time; the others wait in the order in which they came, until their time is over. Safe to use from any task.
final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiters: [WakeSignal] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Runs `body` in its turn; nil where none came before `end`.
    func run<Value: Sendable>(before end: ContinuousClock.Instant, _ body: () async -> Value) async -> Value? {
        let own = WakeSignal()
        var mayRun = begin(own, mayWait: true)
        while mayRun == nil {
            await own.wait(upTo: max(.zero, end - .now))
            mayRun = begin(own, mayWait: !Task.isCancelled && ContinuousClock.now < end)
        }
        guard mayRun == true else { return nil }
        defer { finish() }
        return await body()
    }

    /// Whether a turn begins; nil for one that waits.
    private func begin(_ own: WakeSignal, mayWait: Bool) -> Bool? {
        let (mayRun, next) = state.withLock { state -> (Bool?, WakeSignal?) in
            let index = state.waiters.firstIndex { $0 === own }
            let isNext = (index ?? state.waiters.count) == 0
            if !(isNext && state.free > 0) && mayWait {
                if index == nil { state.waiters.append(own) }
                return (nil, nil)
            }
            if let index { state.waiters.remove(at: index) }
            guard isNext, state.free > 0 else { return (false, state.free > 0 ? state.waiters.first : nil) }
            state.free -= 1
            return (true, state.free > 0 ? state.waiters.first : nil)
        }
        next?.signal()
        return mayRun
    }

    private func finish() {
        let next = state.withLock { state in
            state.free += 1
            return state.waiters.first
        }
        next?.signal()
    }
}
