/// Divides the free slots of one credential among its queues that have work: weighted deficit round-robin by class, with slots kept for
/// critical queues.
///
/// Critical queues weigh most and are served first in each round; and others never take the last part of the slots, so that critical work
/// finds a free slot however much else is in flight. Every class gets its share, carried over from round to round where it is less than a
/// slot: none starves, also with a single slot.
package struct QueueScheduler: Sendable {
    /// How the slots are divided.
    package struct Policy: Sendable, Hashable {
        /// Share of all slots that only critical work may take.
        package var criticalReserve: Double

        package init(criticalReserve: Double = 0.2) { self.criticalReserve = criticalReserve }
    }

    /// The slots of a credential, and what is under way.
    package struct Slots: Sendable, Hashable {
        var capacity: Int
        var critical: Int
        var others: Int

        package init(capacity: Int, critical: Int = 0, others: Int = 0) {
            self.capacity = capacity
            self.critical = critical
            self.others = others
        }

        var free: Int { max(0, capacity - critical - others) }

        /// Kept for critical work. One slot is always left to others, or a process with a single one would never do their work.
        func reserve(_ policy: Policy) -> Int { min(capacity - 1, Int((Double(capacity) * policy.criticalReserve).rounded(.up))) }

        /// What work that is not critical may take.
        func freeForOthers(_ policy: Policy) -> Int { min(free, max(0, capacity - reserve(policy) - others)) }
    }

    /// What one queue may claim.
    package struct Grant: Sendable, Hashable {
        package var queue: Int32
        package var count: Int

        package init(queue: Int32, count: Int) {
            self.queue = queue
            self.count = count
        }
    }

    private let policy: Policy
    /// What each queue may still take from earlier rounds.
    private var deficits: [Int32: Double] = [:]
    /// What all non-critical queues together may take while critical ones have work.
    private var otherCredit = 0.0

    package init(policy: Policy = Policy()) { self.policy = policy }

    /// The grants of one round, in the order to claim.
    ///
    /// - Parameter queues: those of the credential that have something to claim.
    package mutating func grants(queues: [SendQueue], slots: Slots) -> [Grant] {
        deficits = deficits.filter { deficit in queues.contains { $0.id == deficit.key } }
        let critical = queues.filter(\.isCritical)
        let others = queues.filter { !$0.isCritical }
        let reserve = slots.reserve(policy)
        // The reserve is there for critical work also when others took more before the capacity shrank.
        let forCritical = critical.isEmpty ? 0 : max(slots.free, reserve - slots.critical)
        let forOthers = slots.freeForOthers(policy)
        let otherWeight = others.reduce(0) { $0 + $1.deliveryClass.weight }
        let criticalWeight = critical.reduce(0) { $0 + $1.deliveryClass.weight }
        guard otherWeight + criticalWeight > 0 else { return [] }

        let otherShare =
            if others.isEmpty {
                0
            } else if critical.isEmpty {
                forOthers
            } else {
                wholeShare(slots.free, otherWeight / (otherWeight + criticalWeight), atMost: forOthers)
            }
        let criticalGrants = divide(forCritical - min(otherShare, forCritical), among: critical)
        return criticalGrants + divide(otherShare, among: others)
    }

    /// Whole slots; what is left over counts next time.
    private mutating func wholeShare(_ free: Int, _ share: Double, atMost limit: Int) -> Int {
        otherCredit = min(otherCredit + Double(free) * share, Double(max(1, limit)))
        // A hair's breadth for what adds up to a whole.
        let whole = min(limit, Int(otherCredit + 1e-9))
        otherCredit -= Double(whole)
        return whole
    }

    /// Records how much of a grant was used: a queue that had less than it was granted saves nothing up.
    package mutating func claimed(_ count: Int, of grant: Grant) {
        if count < grant.count { deficits[grant.queue] = 0 }
    }

    private mutating func divide(_ slots: Int, among queues: [SendQueue]) -> [Grant] {
        let weight = queues.reduce(0) { $0 + $1.deliveryClass.weight }
        guard slots > 0, weight > 0 else { return [] }
        for queue in queues { deficits[queue.id, default: 0] += Double(slots) * queue.deliveryClass.weight / weight }
        var remaining = slots
        var grants: [Grant] = []
        for queue in queues.sorted(by: { (deficits[$0.id] ?? 0, $1.id) > (deficits[$1.id] ?? 0, $0.id) }) {
            let count = min(remaining, Int((deficits[queue.id] ?? 0).rounded(.up)))
            guard count > 0 else { continue }
            deficits[queue.id]? -= Double(count)
            remaining -= count
            grants.append(Grant(queue: queue.id, count: count))
        }
        return grants
    }
}
