/// `latency/1`: a percentile of the latency is above a limit, which is a share of slow attempts above what it allows: decided as `ratio/2`.
package struct LatencyCondition: Sendable, Hashable {
    /// In percent: 95 allows 5 % to be slower.
    package let percentile: Fraction
    /// Slower attempts are bad. A bound of `LatencyBuckets`, so that their number is exact.
    package let aboveMs: Int32
    /// How the share of slow attempts is decided.
    let ratio: RatioCondition

    /// `percentile` must be above 0 and below 100.
    package init(
        percentile: Fraction,
        aboveMs: Int32,
        for duration: RuleDuration,
        of: AttemptFilter = AttemptFilter([:]),
        minAttempts: Int64 = 100
    ) {
        self.percentile = percentile
        self.aboveMs = aboveMs
        let hundred = 100 * percentile.denominator
        var ratio = RatioCondition(reasons: [], above: Fraction(hundred - percentile.numerator, hundred), for: duration)
        ratio.of = of
        ratio.minAttempts = minAttempts
        self.ratio = ratio
    }
}
