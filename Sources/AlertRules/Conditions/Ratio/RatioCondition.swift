/// `ratio/1`: a share of bad attempts above a threshold, sustained.
///
/// Defaults are those of the reference (§2.2); `resolveWithin` is an addition and off by default.
package struct RatioCondition: Sendable, Hashable {
    package var reasons: [String]
    /// With statuses, only an attempt that ended in one of them is bad: `deactivated` are failures that switched a token off.
    package var statuses: [String] = []
    package var of = AttemptFilter()
    /// θ. Strictly above, compared in whole numbers.
    package var above: Fraction
    /// The window F: the last `duration` closed minutes.
    package var duration: RuleDuration
    /// A trailing window that lends a noisy minute its neighbours' evidence.
    package var smooth: RuleDuration
    /// The share of F's minutes with traffic that must breach.
    package var quorum = Fraction(4, 5)
    /// Bad attempts F must contain.
    package var minBad: Int64 = 10
    /// Bad attempts the smooth window must contain before a minute can breach.
    package var minBadSmooth: Int64 = 2
    /// Confidence of the small-sample guard; nil turns it off.
    package var guardConfidence: WilsonBound? = .percent99
    /// The share the lower confidence bound must exceed.
    package var guardAt: Fraction
    package var resolveAfter = RuleDuration(minutes: 10)
    /// The share at or below which a minute run counts as good.
    package var resolveAt: Fraction
    /// Attempts each half of the resolve window must contain before "good" is believed.
    package var minAttemptsToClear: Int64 = 20
    /// How far the resolve window may stretch, after the last breach, to find that many attempts in low traffic.
    package var resolveWithin: RuleDuration
    /// Also fires when a credential was refused throughout `duration` and at least this many pushes wait for it: those are not attempted,
    /// so they are in no share. Nil considers attempts only.
    package var minBlocked: Int64?

    package init(reasons: [String], above: Fraction, for duration: RuleDuration) {
        self.reasons = reasons.sorted()
        self.above = above
        self.duration = duration
        smooth = RuleDuration(minutes: max(1, duration.minutes / 3))
        guardAt = above * Fraction(4, 5)
        resolveAt = above * Fraction(4, 5)
        resolveWithin = resolveAfter
    }
}
