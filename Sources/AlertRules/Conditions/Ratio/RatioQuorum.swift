/// The breaching minutes of a window of `ratio`, and how many of them the condition takes.
package struct RatioQuorum: Sendable, Hashable {
    /// Minutes whose verdict is `breach`.
    package let breaches: Int
    /// Breaching minutes that the condition takes, of those with a verdict and of half of the window at least.
    package let breachesNeeded: Int
    /// Half of the window has a verdict, and the quorum of those minutes breaches.
    let isMet: Bool

    /// Of the window that ends at a closed minute. `series` has the minutes of the window and the smooth window before its first one.
    package init(_ condition: RatioCondition, series: MinuteSeries, endingAt last: Minute) {
        let first = last - (condition.duration.minutes - 1)
        self.init(condition, RatioVerdicts(condition, series: series, from: first, through: last), endingAt: last)
    }

    init(_ condition: RatioCondition, _ verdicts: RatioVerdicts, endingAt last: Minute) {
        let length = condition.duration.minutes
        let (breaches, evaluable) = verdicts.window(endingAt: last, minutes: length)
        let quorum = condition.quorum
        let judged = Int64(max(evaluable, (length + 1) / 2))
        self.breaches = breaches
        breachesNeeded = Int((judged * quorum.numerator + quorum.denominator - 1) / quorum.denominator)
        isMet = 2 * evaluable >= length && breaches >= breachesNeeded
    }
}
