/// `absence/1`: attempts are made, and none of them succeeds.
///
/// Without attempts there is nothing to say: silence is held, and is `EvaluatorDataGap`'s business.
package struct AbsenceCondition: Sendable, Hashable {
    /// Success is an outcome with none of these: all six.
    package static let reasons = Reasons.all.sorted()

    package var of = AttemptFilter()
    /// How long nothing must have succeeded.
    package var duration: RuleDuration
    /// Failures the time must hold, in both of its halves some. In low traffic it grows up to `longest` until it does.
    package var minAttempts: Int64 = 10
    /// The shortest time after the last failing minute that proves recovery …
    package var resolveAfter = RuleDuration(minutes: 10)
    /// … with at least this many successes in it.
    package var minSuccesses: Int64 = 10
    /// How far back successes may be looked for in low traffic, never before the condition last held.
    package var resolveWithin = RuleDuration(minutes: 120)

    /// Minutes: how far the time may grow where `duration` holds fewer than `minAttempts` failures and no success.
    package var longest: Int { 2 * duration.minutes }

    /// Minutes that decide about one minute.
    package var lookback: Int { max(longest, resolveWithin.minutes) }

    package init(for duration: RuleDuration) { self.duration = duration }
}
