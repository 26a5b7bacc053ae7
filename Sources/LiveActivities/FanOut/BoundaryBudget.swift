package import PushContract

/// One device's bucket for boundaries: so many an hour at priority 10, the others at 5.
package struct BoundaryBudget: Sendable, Hashable {
    package static let perHour = 8.0

    private var level: Double
    private var filledAt: Timestamp

    package init(perHour: Double = perHour, now: Timestamp) {
        level = perHour
        filledAt = now
    }

    /// True if there is one left; it is taken.
    package mutating func take(perHour: Double = perHour, now: Timestamp) -> Bool {
        level = min(perHour, level + max(0, (now - filledAt).inSeconds) * perHour / 3600)
        filledAt = max(filledAt, now)
        guard level >= 1 else { return false }
        level -= 1
        return true
    }
}
