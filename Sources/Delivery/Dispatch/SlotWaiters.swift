import ServiceKit
import Synchronization

/// Lets requests wait a moment for slots, as long as the queue is empty or may soon be. Safe to use from any task.
///
/// What is leased when it is stored costs less than what goes through the queue. So when callers post faster than this process sends, all
/// are served sooner if they wait for each other here than if the queue grows.
final class SlotWaiters: Sendable {
    private struct Waiter {
        var count: Int
        var signal: WakeSignal
    }

    private struct State {
        /// Sends that are about to be stored, and have no slots yet.
        var expected = 0
        /// In the order in which they came.
        var waiters: [Waiter] = []
    }

    private let slots: SendSlots
    private let usable: Int
    private let patience: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - usable: the slots that are not kept for critical sends.
    ///   - patience: how long somebody waits at most.
    init(slots: SendSlots, usable: Int, patience: Duration) {
        self.slots = slots
        self.usable = usable
        self.patience = patience
    }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Returns when there are slots for so many sends, or waiting for them is not worth it. They count as taken until `settle`.
    func expect(_ count: Int, mayWait: () -> Bool) async {
        let end = ContinuousClock.now + patience
        let own = WakeSignal()
        while !admit(count, own, mayWait: mayWait() && !Task.isCancelled && ContinuousClock.now < end) {
            await own.wait(upTo: max(.zero, end - .now))
        }
        // There may be slots for the next one, too.
        wake(mayWait: mayWait())
    }

    /// Sends that were expected have slots of their own now, or will have none.
    func settle(_ count: Int, mayWait: Bool) {
        state.withLock { $0.expected -= count }
        wake(mayWait: mayWait)
    }

    /// Slots have become free, or waiting is not worth it any more.
    func wake(mayWait: Bool) {
        let ready = state.withLock { state in
            mayWait ? state.waiters.prefix(1).filter { hasSlots(for: $0.count, state) } : state.waiters
        }
        for waiter in ready { waiter.signal.signal() }
    }

    private func admit(_ count: Int, _ own: WakeSignal, mayWait: Bool) -> Bool {
        state.withLock { state in
            let index = state.waiters.firstIndex { $0.signal === own }
            let isNext = index == 0 || index == nil && state.waiters.isEmpty
            guard isNext && hasSlots(for: count, state) || count > usable || !mayWait else {
                if index == nil { state.waiters.append(Waiter(count: count, signal: own)) }
                return false
            }
            if let index { state.waiters.remove(at: index) }
            state.expected += count
            return true
        }
    }

    private func hasSlots(for count: Int, _ state: State) -> Bool { slots.countWithoutSlow(now: .now) + state.expected + count <= usable }
}
