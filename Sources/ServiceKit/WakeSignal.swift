import Synchronization

/// Lets one waiter sleep until a signal or a timeout. Safe to signal from any task; signals without a waiter are kept, as one.
package final class WakeSignal: Sendable {
    private struct State {
        var isSignalled = false
        var isExpired = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func signal() {
        let waiter = state.withLock { state in
            guard let waiter = state.waiter else {
                state.isSignalled = true
                return CheckedContinuation<Void, Never>?.none
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Returns at a signal, after `limit`, or when the task is cancelled. One waiter at a time.
    package func wait(upTo limit: Duration, clock: any Clock<Duration> = ContinuousClock()) async {
        state.withLock { $0.isExpired = false }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await clock.sleep(for: limit)
                self.expire()
            }
            await suspend()
            group.cancelAll()
        }
    }

    private func expire() {
        let waiter = state.withLock { state in
            state.isExpired = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    private func suspend() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isSignalled || state.isExpired {
                    state.isSignalled = false
                    return true
                }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
