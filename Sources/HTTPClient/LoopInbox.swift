import Synchronization

/// Passes items from other threads to a loop's thread, and wakes it up.
final class LoopInbox<Item: Sendable>: Sendable {
    private struct State {
        var arrived: [Item] = []
        var cancellations = 0
        var isStopping = false
        var isClosed = false
        /// The loop waits in the poller and must be woken up. One wake-up is enough for a burst, and a busy loop needs none.
        var isWaiting = false
    }

    /// What the loop takes in one turn.
    struct Batch {
        var arrived: [Item]
        var hasCancellations: Bool
        var isStopping: Bool
    }

    private let state = Mutex(State())
    private let poller: EventPoller

    init(poller: EventPoller) { self.poller = poller }

    /// Whether the item was accepted; false after the loop has stopped.
    @discardableResult
    func submit(_ item: Item) -> Bool { submit(contentsOf: CollectionOfOne(item)) }

    /// As above, for all of them together.
    func submit(contentsOf items: some Collection<Item>) -> Bool {
        state.withLock { state in
            guard !state.isStopping else { return false }
            state.arrived.append(contentsOf: items)
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
            state.isWaiting = false
            return batch
        }
    }

    /// Whether the loop may wait, since nothing has arrived. From now on arrivals wake it up.
    func prepareToSleep() -> Bool {
        state.withLock { state in
            guard state.arrived.isEmpty, state.cancellations == 0, !state.isStopping else { return false }
            state.isWaiting = true
            return true
        }
    }

    /// No wake-up follows after this returns.
    func close() { state.withLock { $0.isClosed = true } }

    private func wake(_ state: inout State) {
        guard state.isWaiting, !state.isClosed else { return }
        state.isWaiting = false
        poller.wakeUp()
    }
}
