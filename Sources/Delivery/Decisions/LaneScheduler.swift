/// Divides free places among the lanes that have work: weighted deficit round-robin, with places kept for critical lanes.
///
/// Critical lanes weigh more and are served first in each round; and others never hold the last part of the places, so that critical work
/// finds a free place however much else is in flight. Non-critical lanes still get their share, carried over from round to round where it
/// is less than a place: nobody starves, also with a single place.
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
    /// What all non-critical lanes together are owed while critical ones have work.
    private var owedToNormal = 0.0

    package init(policy: Policy = Policy()) { self.policy = policy }

    /// The grants of one round, in the order to claim.
    ///
    /// - Parameters:
    ///   - lanes: those that have something to claim.
    ///   - capacity: all places; `free` of them are empty.
    ///   - normalInFlight: places that non-critical work holds.
    package mutating func grants(lanes: [Lane], free: Int, capacity: Int, normalInFlight: Int) -> [Grant] {
        deficits = deficits.filter { owed in lanes.contains { $0.id == owed.key } }
        let critical = lanes.filter(\.isCritical)
        let normal = lanes.filter { !$0.isCritical }
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
        owedToNormal = min(owedToNormal + Double(free) * share, Double(max(1, limit)))
        // A hair's breadth for what adds up to a whole.
        let whole = min(limit, Int(owedToNormal + 1e-9))
        owedToNormal -= Double(whole)
        return whole
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
