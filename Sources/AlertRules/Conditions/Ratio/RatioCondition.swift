/// `ratio/2`: a share of bad attempts above a threshold, sustained, and over on evidence as strong as that which fired it.
///
/// Defined in docs/alert-semantics.md. `ratio/1` is kept for backtests: `version: 1`.
package struct RatioCondition: Sendable, Hashable {
    package enum Version: Int64, Sendable, Hashable, CaseIterable {
        case one = 1
        case two
    }

    package var version: Version
    package var reasons: [String]
    /// With statuses, only an attempt that ended in one of them is bad: `deactivated` are failures that switched a token off.
    package var statuses: [String] = []
    /// With provider codes, only an attempt with one of them is bad.
    package var codes: [String] = []
    package var of = AttemptFilter()
    /// θ. Strictly above, compared in whole numbers.
    package var above: Fraction
    /// The window F: the last `duration` closed minutes.
    package var duration: RuleDuration
    /// A trailing window that lends a noisy minute its neighbours' evidence.
    package var smooth: RuleDuration
    /// The share of F's minutes with traffic that must breach.
    package var quorum = Fraction(4, 5)
    /// Attempts F must contain, of `ratio/2`. No key sets it: `minBad` is enough for failures.
    var minAttempts: Int64 = 0
    /// Bad attempts F must contain.
    package var minBad: Int64 = 10
    /// Bad attempts the smooth window must contain before a minute can breach.
    package var minBadSmooth: Int64 = 2
    /// Confidence of the small-sample guard; nil turns it off.
    package var guardConfidence: WilsonBound? = .percent99
    /// The share the lower confidence bound must exceed.
    package var guardAt: Fraction
    /// The shortest good run.
    package var resolveAfter: RuleDuration
    /// The share at or below which a minute run counts as good.
    package var resolveAt: Fraction
    /// Attempts each half of the good run must contain.
    package var minAttemptsToClear: Int64
    /// The longest good run. It begins after the newest minute at which the condition was met.
    package var resolveWithin: RuleDuration
    /// How long after its end an alert that fires again is the same alert; zero: never.
    package var reopenWithin: RuleDuration
    /// Also fires when a credential was refused throughout `duration` and at least this many pushes wait for it: those are not attempted,
    /// so they are in no share. Nil considers attempts only.
    package var minBlocked: Int64?

    package init(reasons: [String], above: Fraction, for duration: RuleDuration, version: Version = .two) {
        self.version = version
        self.reasons = reasons.sorted()
        self.above = above
        self.duration = duration
        smooth = RuleDuration(minutes: max(1, duration.minutes / 3))
        guardAt = above * Fraction(4, 5)
        resolveAt = above * Fraction(4, 5)
        switch version {
        case .one:
            resolveAfter = RuleDuration(minutes: 10)
            resolveWithin = resolveAfter
            minAttemptsToClear = 20
            reopenWithin = RuleDuration(minutes: 0)
        case .two:
            resolveAfter = RuleDuration(minutes: max(10, duration.minutes / 2))
            resolveWithin = RuleDuration(minutes: min(1440, 12 * resolveAfter.minutes))
            minAttemptsToClear = 5
            reopenWithin = RuleDuration(minutes: 120)
        }
    }
}
