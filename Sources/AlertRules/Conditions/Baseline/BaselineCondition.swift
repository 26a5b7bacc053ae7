/// `baseline/1`: more bad attempts than a multiple of what the last days' shares let expect for the present mix of traffic.
///
/// Defaults are those of the reference (§2.4).
package struct BaselineCondition: Sendable, Hashable {
    package var reasons: [String]
    package var of = AttemptFilter()
    /// Observed must be strictly above this multiple of expected.
    package var above: Fraction
    /// Whole UTC days the baseline is learned from.
    package var reference = RuleDuration(minutes: 7 * 1440)
    package var window = RuleDuration(minutes: 60)
    /// Longer windows, tried in order while fewer than `minExpected` bad attempts are expected.
    package var ladder = [RuleDuration(minutes: 360), RuleDuration(minutes: 1440)]
    package var minExpected = Fraction(3, 1)
    package var every = RuleDuration(minutes: 5)
    /// Bad attempts the window must contain.
    package var minBad: Int64 = 10
    /// The tail test: P(Poisson(overdispersion · E) ≥ O) must be below this.
    package var alpha = Fraction(1, 1000)
    var overdispersion = Fraction(3, 2)
    package var strata: [Dimension] = [.appMajor, .environment, .platform, .provider, .pushType]
    /// The part of its provider's traffic from which on an app's major version is a stratum of its own.
    var minMajorShare = Fraction(5, 100)
    /// Attempts a day must contain for its share to count.
    package var minAttemptsPerDay: Int64 = 200
    /// With fewer such days the days are pooled instead.
    var minDays = 3
    /// Attempts' worth of weight that a stratum's share is drawn towards its provider's share.
    package var shrink: Int64 = 1000
    /// The smallest share that is ever expected of a provider.
    package var floor = Fraction(1, 10_000)
    /// Left out of the baseline before the window begins.
    package var gap = RuleDuration(minutes: 60)
    /// Resolves when observed is at most this multiple of the frozen expectation …
    package var resolveAt = Fraction(2, 1)
    /// … in a window for which at least this many bad attempts are expected.
    var resolveMinExpected = Fraction(1, 1)
    /// While less than `reference` is known: the share above which a ticket may be raised; nil raises none.
    package var warnAbove: Fraction? = Fraction(1, 10)
    package var warnMinBad: Int64 = 50

    /// Learns from the same hours of earlier weeks, once enough weeks are known; nil learns from whole days.
    package var seasonality: WeekSeason?

    package init(reasons: [String], above: Fraction) {
        self.reasons = reasons.sorted()
        self.above = above
    }

    /// The window and the ladder, shortest first.
    package var windows: [RuleDuration] { [window] + ladder }
    package var longestWindow: RuleDuration { windows.max() ?? window }
    package var referenceDays: Int { reference.minutes / 1440 }
}
