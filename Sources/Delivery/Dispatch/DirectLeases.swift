import PushContract
import Synchronization

/// Where accepted sends are leased in the transaction that stores them: the dispatcher of this process, while it runs.
package final class DirectLeases: Sendable {
    private let running = Mutex<SendDispatcher?>(nil)

    package init() {}

    var dispatcher: SendDispatcher? { running.withLock { $0 } }

    func open(_ dispatcher: SendDispatcher) { running.withLock { $0 = dispatcher } }

    /// Nothing more is reserved; what was reserved may still begin.
    func close() { running.withLock { $0 = nil } }
}

/// The slots that one transaction takes for what it leases. Not reserved twice where the transaction is run again; what is not used is
/// released. Safe to use from any thread.
final class DirectReservation: Sendable {
    /// Deliveries that one transaction leases at most.
    static let limit = 250

    private let dispatcher: SendDispatcher?
    private let slots = Mutex<[SendQueue: Int]>([:])

    init(_ leases: DirectLeases) { dispatcher = leases.dispatcher }

    var worker: String { dispatcher?.configuration.worker ?? "" }
    var lease: Duration { dispatcher?.configuration.lease ?? .zero }

    /// How many deliveries of a queue may be leased now.
    func reserve(_ wanted: Int, of queue: SendQueue) -> Int {
        guard let dispatcher, wanted > 0 else { return 0 }
        return slots.withLock { slots in
            let rest = Self.limit - slots.values.reduce(0, +)
            let reserved = dispatcher.reserve(min(wanted, rest), of: queue)
            slots[queue, default: 0] += reserved
            return reserved
        }
    }

    /// Hands over what was leased, after the commit.
    func begin(_ deliveries: [ClaimedDelivery]) {
        guard let dispatcher else { return }
        for delivery in deliveries {
            let queue = slots.withLock { slots in
                let queue = slots.keys.first { $0.id == delivery.queue }
                if let queue { slots[queue]? -= 1 }
                return queue
            }
            if let queue { dispatcher.begin(delivery, of: queue) }
        }
    }

    func release() {
        slots.withLock { slots in
            for (queue, count) in slots where count > 0 { dispatcher?.release(count, of: queue) }
            slots = [:]
        }
    }
}
