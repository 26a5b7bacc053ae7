import Synchronization

/// The tries under way in this process, in all and of each lane.
final class InFlight: Sendable {
    private struct State {
        var leases: Set<HeldLease> = []
        var byLane: [Int32: Int] = [:]
        var normal = 0
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.leases.count } }
    var leases: [HeldLease] { state.withLock { Array($0.leases) } }

    /// Of those, the ones that are not critical.
    var normalCount: Int { state.withLock { $0.normal } }

    func count(of lane: Int32) -> Int { state.withLock { $0.byLane[lane, default: 0] } }

    func enter(_ delivery: ClaimedDelivery) {
        state.withLock { state in
            state.leases.insert(HeldLease(deliveryId: delivery.deliveryId, leaseToken: delivery.leaseToken))
            state.byLane[delivery.lane, default: 0] += 1
            if !delivery.isCritical { state.normal += 1 }
        }
    }

    /// How many remain in all.
    func leave(_ delivery: ClaimedDelivery) -> Int {
        state.withLock { state in
            state.leases.remove(HeldLease(deliveryId: delivery.deliveryId, leaseToken: delivery.leaseToken))
            state.byLane[delivery.lane, default: 1] -= 1
            if !delivery.isCritical { state.normal -= 1 }
            return state.leases.count
        }
    }
}
