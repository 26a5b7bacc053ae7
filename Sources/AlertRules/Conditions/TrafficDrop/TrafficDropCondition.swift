/// `traffic-drop/1`: far fewer attempts than at this time of the weeks before, or none.
///
/// Its minutes are attempts of any outcome; none of them is bad.
package struct TrafficDropCondition: Sendable, Hashable {
    /// A week, in minutes.
    static let week = 7 * 1440
    /// What is usual an hour earlier and later counts too: a change of the clocks is no drop.
    package static let shift = 60
    /// The chance of so few attempts by accident must be below this …
    static let alpha = 0.00001
    /// … and at the end of an alert, that of so many while the drop lasts.
    static let resolveAlpha = 0.001
    /// In low traffic the good run grows up to this many times `resolve_after`.
    static let longestFactor = 8

    package var of = AttemptFilter()
    /// Fires when fewer attempts are made than this part of what is usual.
    package let below: Fraction
    package let duration: RuleDuration
    /// Weeks before, whose lower median is usual.
    package var weeks = 4
    /// What must be usual within `duration`.
    package var minUsual: Int64 = 30
    /// Resolves when at least this part of what is usual is made again.
    package var resolveAt: Fraction
    package var resolveAfter: RuleDuration

    package init(below: Fraction, for duration: RuleDuration) {
        self.below = below
        self.duration = duration
        resolveAt = Fraction(below.numerator + below.denominator, 2 * below.denominator)
        resolveAfter = duration
    }

    /// The longest time without a comparison with other weeks, in minutes.
    var longest: Int { max(duration.minutes, min(1440, Self.longestFactor * resolveAfter.minutes)) }
}
