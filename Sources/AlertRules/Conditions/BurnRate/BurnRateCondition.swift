/// `burn-rate/1`: so many attempts fail that the error budget of an objective is used up too fast, in a long window and in a short one.
package struct BurnRateCondition: Sendable, Hashable {
    package let reasons: [String]
    package var of = AttemptFilter()
    /// The share of attempts that must not fail.
    package let objective: Fraction
    /// How many times as fast as the objective allows, strictly above this.
    package let rate: Fraction
    /// The share of failures at that rate.
    package let threshold: Fraction
    package let long: RuleDuration
    package let short: RuleDuration
    /// What the long window must contain: a handful of failures is no incident, whatever their share.
    package var minAttempts: Int64 = 100
    package var minBad: Int64 = 10
    /// The chance of so few failures while the incident goes on must be below this to end an alert.
    static let resolveAlpha = 0.01

    /// Nil when the rate can never be exceeded, or has too many decimals to be compared exactly.
    package init?(reasons: [String], objective: Fraction, rate: Fraction, long: RuleDuration, short: RuleDuration) {
        guard objective < Fraction(1, 1),
            let threshold = rate.times(Fraction(objective.denominator - objective.numerator, objective.denominator)),
            threshold < Fraction(1, 1), threshold.numerator > 0, threshold.denominator <= 1_000_000_000
        else { return nil }
        self.reasons = reasons.sorted()
        self.objective = objective
        self.rate = rate
        self.threshold = threshold
        self.long = long
        self.short = short
    }
}
