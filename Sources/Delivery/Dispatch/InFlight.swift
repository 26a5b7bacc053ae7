import Synchronization

/// The tries under way in this process, in all and of each queue.
final class InFlight: Sendable {
    private struct State {
        var leases: Set<LeaseKey> = []
        var byQueue: [Int32: Int] = [:]
        var normal = 0
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.leases.count } }
    var leases: [LeaseKey] { state.withLock { Array($0.leases) } }

    /// Of those, the ones that are not critical.
    var normalCount: Int { state.withLock { $0.normal } }

    func count(of queue: Int32) -> Int { state.withLock { $0.byQueue[queue, default: 0] } }

    func enter(_ delivery: ClaimedDelivery) {
        state.withLock { state in
            state.leases.insert(LeaseKey(deliveryId: delivery.deliveryId, leaseToken: delivery.leaseToken))
            state.byQueue[delivery.queue, default: 0] += 1
            if !delivery.isCritical { state.normal += 1 }
        }
    }

    /// How many remain in all.
    func leave(_ delivery: ClaimedDelivery) -> Int {
        state.withLock { state in
            state.leases.remove(LeaseKey(deliveryId: delivery.deliveryId, leaseToken: delivery.leaseToken))
            state.byQueue[delivery.queue, default: 1] -= 1
            if !delivery.isCritical { state.normal -= 1 }
            return state.leases.count
        }
    }
}
