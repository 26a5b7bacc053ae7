/// Divides free places among the queues that have work: weighted deficit round-robin, with places kept for critical queues.
///
/// Critical queues weigh more and are served first in each round; and others never hold the last part of the places, so that critical work
/// finds a free place however much else is in flight. Non-critical queues still get their share, carried over from round to round where it
/// is less than a place: nobody starves, also with a single place.
package struct QueueScheduler: Sendable {
    /// How the places are divided.
    package struct Policy: Sendable, Hashable {
        var criticalWeight: Double
        var normalWeight: Double
        /// Share of all places that only critical work may take.
        package var criticalReserve: Double

        package init(criticalWeight: Double = 8, normalWeight: Double = 1, criticalReserve: Double = 0.2) {
            self.criticalWeight = criticalWeight
            self.normalWeight = normalWeight
            self.criticalReserve = criticalReserve
        }
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
    private var normalCredit = 0.0

    package init(policy: Policy = Policy()) { self.policy = policy }

    /// The grants of one round, in the order to claim.
    ///
    /// - Parameters:
    ///   - queues: those that have something to claim.
    ///   - capacity: all places; `free` of them are empty.
    ///   - normalInFlight: places that non-critical work holds.
    package mutating func grants(queues: [SendQueue], free: Int, capacity: Int, normalInFlight: Int) -> [Grant] {
        deficits = deficits.filter { deficit in queues.contains { $0.id == deficit.key } }
        let critical = queues.filter(\.isCritical)
        let normal = queues.filter { !$0.isCritical }
        // One place is always left to others, or a process with a single one would never do their work.
        let reserve = min(capacity - 1, Int((Double(capacity) * policy.criticalReserve).rounded(.up)))
        let forNormal = min(free, max(0, capacity - reserve - normalInFlight))
        let normalTotal = Double(normal.count) * policy.normalWeight
        let criticalTotal = Double(critical.count) * policy.criticalWeight
        guard free > 0, normalTotal + criticalTotal > 0 else { return [] }

        let normalShare =
            if normal.isEmpty {
                0
            } else if critical.isEmpty {
                forNormal
            } else {
                wholeShare(free, normalTotal / (normalTotal + criticalTotal), atMost: forNormal)
            }
        let criticalGrants = divide(critical.isEmpty ? 0 : free - normalShare, among: critical)
        return criticalGrants + divide(normalShare, among: normal)
    }

    /// Whole places; what is left over counts next time.
    private mutating func wholeShare(_ free: Int, _ share: Double, atMost limit: Int) -> Int {
        normalCredit = min(normalCredit + Double(free) * share, Double(max(1, limit)))
        // A hair's breadth for what adds up to a whole.
        let whole = min(limit, Int(normalCredit + 1e-9))
        normalCredit -= Double(whole)
        return whole
    }

    /// Records how much of a grant was used: a queue that had less than it was granted saves nothing up.
    package mutating func claimed(_ count: Int, of grant: Grant) {
        if count < grant.count { deficits[grant.queue] = 0 }
    }

    private mutating func divide(_ slots: Int, among queues: [SendQueue]) -> [Grant] {
        guard slots > 0, !queues.isEmpty else { return [] }
        for queue in queues { deficits[queue.id, default: 0] += Double(slots) / Double(queues.count) }
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
