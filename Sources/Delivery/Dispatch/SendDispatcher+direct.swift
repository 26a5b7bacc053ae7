import CoreMetrics
import PushContract
import Synchronization

/// Deliveries that are leased in the transaction that stores them (`DirectLeases`).
extension SendDispatcher {
    var worker: String { configuration.worker }
    var lease: Duration { configuration.lease }

    private var mayWaitForSlots: Bool { direct.withLock { $0.mayWait(patience: configuration.slotWait, now: .now) } }

    /// Waits for slots for sends that are to be stored, as long as that is worth it. They count as taken until they are settled.
    func expectSlots(_ count: Int) async { await slotWaiters.expect(count) { mayWaitForSlots } }

    func settleExpected(_ count: Int) {
        if count > 0 { slotWaiters.settle(count, mayWait: mayWaitForSlots) }
    }

    /// Slots have become free, or the queues have changed.
    func wakeSlotWaiters() { slotWaiters.wake(mayWait: mayWaitForSlots) }

    /// Takes slots for new deliveries of a queue that need not wait; nil when all have to.
    func reserve(_ count: Int, of queue: SendQueue) -> SlotReservation? {
        let credential = credential(queue.scope)
        let isAdmitted = direct.withLock { $0.admits(queue) }
        guard isAdmitted, !credential.name.isEmpty, !slots.isSlow(credential),
            !pipeline.gate.blocks(queue.scope, credential: credential.name)
        else { return nil }
        let reserved = slots.reserve(min(count, allowed(queue)), of: queue, credential, configuration.queues, now: .now)
        // What is left waits, and goes first.
        if reserved < count { direct.withLock { $0.fill(queue, now: .now) } }
        return reserved > 0 ? SlotReservation(queue: queue, credential: credential, count: reserved) : nil
    }

    func release(_ reservations: [SlotReservation]) {
        for one in reservations { slots.release(one.count, of: one.queue, one.credential) }
    }

    /// These are leased, in a transaction that is not committed yet, in place of what was reserved for them.
    func enter(_ claimed: [StartedDelivery], for reservations: [SlotReservation] = []) {
        // Most are of one scope.
        var last: (scope: PushScope, credential: SendSlots.Credential)?
        let deliveries = claimed.map { started in
            let scope = started.delivery.scope
            if let last, last.scope == scope { return (started, last.credential) }
            let credential = credential(scope)
            last = (scope, credential)
            return (started, credential)
        }
        slots.enter(deliveries, for: reservations, now: .now)
    }

    /// Their transaction is committed.
    func start(_ claimed: [StartedDelivery]) {
        SendMetrics.claimed.increment(by: claimed.count)
        started.continuation.yield(claimed)
    }

    /// Their transaction failed, or its end is unknown.
    func abandon(_ claimed: [StartedDelivery]) {
        guard !claimed.isEmpty else { return }
        for started in claimed { _ = slots.leave(started.delivery) }
        noteUnknownLeases()
    }

    /// There may be leases of this process that it knows nothing of.
    func noteUnknownLeases() { direct.withLock { $0.noteUnknownLeases(now: .now) } }

    func handleStarted() async {
        direct.withLock { $0.open() }
        await withDiscardingTaskGroup { group in
            for await deliveries in started.stream {
                for started in deliveries { add(started, to: &group) }
            }
        }
    }
}

/// Slots that are taken and have no leases yet. A credential may be replaced before they are freed.
struct SlotReservation: Sendable {
    var queue: SendQueue
    var credential: SendSlots.Credential
    var count: Int
}
