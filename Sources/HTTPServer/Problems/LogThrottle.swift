import Synchronization

/// Lets so many lines through in a second, so that an overload of requests does not become one of the log.
final class LogThrottle: Sendable {
    private struct State {
        var since: ContinuousClock.Instant?
        var logged = 0
        var dropped = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(perSecond limit: Int) { self.limit = limit }

    /// How many lines were left out before this one; nil when this one is to be left out too.
    func admit(now: ContinuousClock.Instant) -> Int? {
        state.withLock { state in
            if state.since.map({ now - $0 >= .seconds(1) }) ?? true {
                state.since = now
                state.logged = 0
            }
            guard state.logged < limit else {
                state.dropped += 1
                return nil
            }
            state.logged += 1
            defer { state.dropped = 0 }
            return state.dropped
        }
    }
}
