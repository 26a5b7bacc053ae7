import CCurl
import Synchronization

/// The one door into the loop's thread: others leave exchanges here and wake the loop.
final class TransferInbox: Sendable {
    private struct State {
        var arrived: [Exchange] = []
        var cancellations = 0
        var isStopping = false
        var isClosed = false
        /// A wake-up is on its way, so that a burst costs one system call.
        var isWoken = false
    }

    /// What the loop takes out at once.
    struct Delivery {
        var arrived: [Exchange]
        var hasCancellations: Bool
        var isStopping: Bool
    }

    private let state = Mutex(State())
    // Only `curl_multi_wakeup` is called on it here, which libcurl documents as callable from any thread; `close` comes before cleanup.
    nonisolated(unsafe) private let multi: UnsafeMutableRawPointer

    init(multi: UnsafeMutableRawPointer) { self.multi = multi }

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

    func take() -> Delivery {
        state.withLock { state in
            defer {
                state.arrived.removeAll(keepingCapacity: true)
                state.cancellations = 0
                state.isWoken = false
            }
            return Delivery(arrived: state.arrived, hasCancellations: state.cancellations > 0, isStopping: state.isStopping)
        }
    }

    /// No wake-up happens after this returns.
    func close() { state.withLock { $0.isClosed = true } }

    private func wake(_ state: inout State) {
        guard !state.isWoken, !state.isClosed else { return }
        state.isWoken = true
        curl_multi_wakeup(multi)
    }
}
