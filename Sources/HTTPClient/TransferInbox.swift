import CCurl
import Synchronization

/// The one door into the loop's thread: others leave exchanges here and ring.
final class TransferInbox: Sendable {
    private struct State {
        var arrived: [Exchange] = []
        var cancellations = 0
        var isStopping = false
        var isClosed = false
        /// The loop sleeps, so that somebody must ring. One ring is enough for a burst, and a busy loop needs none.
        var isAsleep = false
    }

    /// What the loop takes out at once.
    struct Batch {
        var arrived: [Exchange]
        var hasCancellations: Bool
        var isStopping: Bool
    }

    private let state = Mutex(State())
    private let poller: EventPoller

    init(poller: EventPoller) { self.poller = poller }

    /// Whether the exchange was taken; false once the loop has stopped.
    func submit(_ exchange: Exchange) -> Bool {
        state.withLock { state in
            guard !state.isStopping else { return false }
            state.arrived.append(exchange)
            wake(&state)
            return true
        }
    }

    func noteCancellation() {
        state.withLock { state in
            state.cancellations += 1
            wake(&state)
        }
    }

    func stop() {
        state.withLock { state in
            state.isStopping = true
            wake(&state)
        }
    }

    func take() -> Batch {
        state.withLock { state in
            let batch = Batch(arrived: state.arrived, hasCancellations: state.cancellations > 0, isStopping: state.isStopping)
            if !state.arrived.isEmpty { state.arrived = [] }
            state.cancellations = 0
            state.isAsleep = false
            return batch
        }
    }

    /// Whether the loop may sleep: nothing has arrived. From now on arrivals ring.
    func prepareToSleep() -> Bool {
        state.withLock { state in
            guard state.arrived.isEmpty, state.cancellations == 0, !state.isStopping else { return false }
            state.isAsleep = true
            return true
        }
    }

    /// Nobody rings after this returns.
    func close() { state.withLock { $0.isClosed = true } }

    private func wake(_ state: inout State) {
        guard state.isAsleep, !state.isClosed else { return }
        state.isAsleep = false
        poller.wakeUp()
    }
}
