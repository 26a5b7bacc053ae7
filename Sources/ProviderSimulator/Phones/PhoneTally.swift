/// How often a phone's lock screen changed.
package struct PhoneTally: Sendable, Hashable {
    package var starts = 0
    package var updates = 0
    package var ends = 0

    package init() {}

    package static func + (one: PhoneTally, other: PhoneTally) -> PhoneTally {
        var sum = one
        sum.starts += other.starts
        sum.updates += other.updates
        sum.ends += other.ends
        return sum
    }
}
