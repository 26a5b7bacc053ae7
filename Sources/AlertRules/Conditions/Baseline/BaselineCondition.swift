/// `baseline/2`: more bad attempts than a multiple of what the last days let expect for the present mix of traffic.
///
/// Defined in docs/alert-semantics.md. `baseline/1` is kept for backtests: `version: 1`.
package struct BaselineCondition: Sendable, Hashable {
    package enum Version: Int64, Sendable, Hashable, CaseIterable {
        case one = 1
        case two
    }

    package var version: Version
    package var reasons: [String]
    package var of = AttemptFilter()
    /// Observed must be strictly above this multiple of expected.
    package var above: Fraction
    /// Whole UTC days that the baseline is trained on. Of version 1 alone, as everything up to `longerWindows`, `minExpected` and `every`.
    package var reference = RuleDuration(minutes: 7 * 1440)
    package var window = RuleDuration(minutes: 60)
    /// Longer windows, tried in order while fewer than `minExpected` bad attempts are expected.
    package var longerWindows = [RuleDuration(minutes: 360), RuleDuration(minutes: 1440)]
    package var minExpected = Fraction(3, 1)
    package var every = RuleDuration(minutes: 5)
    /// Bad attempts the window must contain.
    package var minBad: Int64
    /// The chance of so many must be below this.
    package var alpha: Fraction
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
    package var minShare = Fraction(1, 10_000)
    /// Left out of the baseline before the window begins.
    package var gap = RuleDuration(minutes: 60)
    /// Resolves when observed is at most this multiple of the frozen expectation …
    package var resolveAt = Fraction(2, 1)
    /// … in a window for which at least this many bad attempts are expected.
    var resolveMinExpected = Fraction(1, 1)
    /// While less than `reference` is known: the share above which a ticket may be raised; nil raises none.
    package var warnAbove: Fraction? = Fraction(1, 10)
    package var warnMinBad: Int64 = 50

    package init(reasons: [String], above: Fraction, version: Version = .two) {
        self.version = version
        minBad = version == .one ? 10 : 8
        alpha = version == .one ? Fraction(1, 1000) : Fraction(3, 10_000)
        self.reasons = reasons.sorted()
        self.above = above
    }

    /// The window and the longer ones, shortest first.
    package var windows: [RuleDuration] { [window] + longerWindows }
    package var longestWindow: RuleDuration { windows.max() ?? window }
    var referenceDays: Int { reference.minutes / 1440 }
}
