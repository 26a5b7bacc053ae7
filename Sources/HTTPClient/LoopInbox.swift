import Synchronization

/// Passes items from other threads to a loop's thread, and wakes it up.
final class LoopInbox<Item: Sendable>: Sendable {
    private struct State {
        var arrived: [Item] = []
        var cancellations = 0
        var isStopping = false
        /// The loop waits in the poller and must be woken up. One wake-up is enough for a burst, and a busy loop needs none.
        var isWaiting = false

        /// Whether the loop is to be woken up.
        mutating func takeWaiting() -> Bool {
            defer { isWaiting = false }
            return isWaiting
        }
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
        let (isAccepted, isWaiting) = state.withLock { state in
            guard !state.isStopping else { return (false, false) }
            state.arrived.append(contentsOf: items)
            return (true, state.takeWaiting())
        }
        // Without the lock, for which the loop would wait as soon as it is awake.
        if isWaiting { poller.wakeUp() }
        return isAccepted
    }

    func noteCancellation() { wakeUp { $0.cancellations += 1 } }

    func stop() { wakeUp { $0.isStopping = true } }

    private func wakeUp(_ change: (inout State) -> Void) {
        let isWaiting = state.withLock { state in
            change(&state)
            return state.takeWaiting()
        }
        if isWaiting { poller.wakeUp() }
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
}
