/// `absence/1`: attempts are made, and none of them succeeds.
///
/// Without attempts an alert keeps its state; missing data are covered by `EvaluatorDataGap`.
package struct AbsenceCondition: Sendable, Hashable {
    /// Success is an outcome with none of these: all six.
    package static let reasons = Reasons.all.sorted()

    package var of = AttemptFilter()
    /// How long nothing must have succeeded.
    package var duration: RuleDuration
    /// Failures the time must contain, some of them in each half. In low traffic it grows up to `longest` until it does.
    var minAttempts: Int64 = 10
    /// The shortest time after the last failing minute that proves recovery …
    package var resolveAfter = RuleDuration(minutes: 10)
    /// … with at least this many successes in it.
    var minSuccesses: Int64 = 10
    /// How far back successes may be searched in low traffic, never before the condition was last met.
    package var resolveWithin = RuleDuration(minutes: 120)

    /// Minutes: how far the time may grow where `duration` contains fewer than `minAttempts` failures and no success.
    package var longest: Int { 2 * duration.minutes }

    /// Minutes that decide about one minute.
    package var lookback: Int { max(longest, resolveWithin.minutes) }

    package init(for duration: RuleDuration) { self.duration = duration }
}
