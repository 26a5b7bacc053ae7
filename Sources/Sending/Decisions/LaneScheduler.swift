/// Divides free places among the lanes that have work: weighted deficit round-robin, with places kept for critical lanes.
///
/// Critical lanes weigh more and are served first in each round; and the last part of the places is never given to others, so that
/// critical work finds a free place however much else is in flight. Non-critical lanes still get their share: nobody starves.
package struct LaneScheduler: Sendable {
    /// How the places are divided.
    package struct Policy: Sendable, Hashable {
        package var criticalWeight: Double
        package var normalWeight: Double
        /// Share of all places that only critical work may take.
        package var criticalReserve: Double

        package init(criticalWeight: Double = 8, normalWeight: Double = 1, criticalReserve: Double = 0.2) {
            self.criticalWeight = criticalWeight
            self.normalWeight = normalWeight
            self.criticalReserve = criticalReserve
        }
    }

    /// What one lane may claim.
    package struct Grant: Sendable, Hashable {
        package var lane: Int32
        package var count: Int

        package init(lane: Int32, count: Int) {
            self.lane = lane
            self.count = count
        }
    }

    private let policy: Policy
    /// What each lane is owed from earlier rounds.
    private var deficits: [Int32: Double] = [:]

    package init(policy: Policy = Policy()) { self.policy = policy }

    /// The grants of one round, in the order to claim.
    ///
    /// - Parameters:
    ///   - lanes: those that have something to claim.
    ///   - capacity: all places; `free` of them are empty.
    package mutating func grants(lanes: [Lane], free: Int, capacity: Int) -> [Grant] {
        deficits = deficits.filter { owed in lanes.contains { $0.id == owed.key } }
        let critical = lanes.filter(\.isCritical)
        let normal = lanes.filter { !$0.isCritical }
        let reserve = Int((Double(capacity) * policy.criticalReserve).rounded(.up))
        let forNormal = max(0, free - reserve)
        let normalTotal = Double(normal.count) * policy.normalWeight
        let criticalTotal = Double(critical.count) * policy.criticalWeight
        guard free > 0, normalTotal + criticalTotal > 0 else { return [] }

        let normalShare =
            critical.isEmpty ? forNormal : min(forNormal, Int((Double(free) * normalTotal / (normalTotal + criticalTotal)).rounded()))
        let criticalGrants = divide(critical.isEmpty ? 0 : free - normalShare, among: critical)
        return criticalGrants + divide(normalShare, among: normal)
    }

    /// Tells how much of a grant was used: a lane that had less than it was granted is owed nothing.
    package mutating func claimed(_ count: Int, of grant: Grant) {
        if count < grant.count { deficits[grant.lane] = 0 }
    }

    private mutating func divide(_ places: Int, among lanes: [Lane]) -> [Grant] {
        guard places > 0, !lanes.isEmpty else { return [] }
        for lane in lanes { deficits[lane.id, default: 0] += Double(places) / Double(lanes.count) }
        var rest = places
        var grants: [Grant] = []
        for lane in lanes.sorted(by: { (deficits[$0.id] ?? 0, $1.id) > (deficits[$1.id] ?? 0, $0.id) }) {
            let count = min(rest, Int((deficits[lane.id] ?? 0).rounded(.up)))
            guard count > 0 else { continue }
            deficits[lane.id]? -= Double(count)
            rest -= count
            grants.append(Grant(lane: lane.id, count: count))
        }
        return grants
    }
}
