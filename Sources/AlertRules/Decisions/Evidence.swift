/// What a verdict rests on: the numbers an alert shows and a query can reproduce.
package struct Evidence: Sendable, Hashable, Codable {
    /// What the threshold was compared with.
    package enum Level: String, Sendable, Hashable, Codable {
        /// A fixed share (`ratio/1`).
        case threshold
        /// A baseline that has not seen its whole reference yet: a fixed share, never a page.
        case learning
        /// A baseline over its whole reference.
        case reference
    }

    /// `ratio/1` or `baseline/1`.
    package var definition: String
    package var level: Level
    /// A share, or with `level == .reference` a multiple of `expected`.
    package var threshold: Fraction
    package var observed: WindowCounts
    /// The window with the largest excess while the alert was open; at firing the same as `observed`.
    package var worst: WindowCounts
    /// Bad attempts expected in `observed` (baseline with a reference only).
    package var expected: Double?
    /// Bad attempts expected in `worst`.
    package var worstExpected: Double?

    package init(
        definition: String,
        level: Level,
        threshold: Fraction,
        observed: WindowCounts,
        worst: WindowCounts,
        expected: Double? = nil,
        worstExpected: Double? = nil
    ) {
        self.definition = definition
        self.level = level
        self.threshold = threshold
        self.observed = observed
        self.worst = worst
        self.expected = expected
        self.worstExpected = worstExpected
    }

    /// `6.3 %` of a ratio, `4.1×` of a baseline.
    package var observedText: String { Self.text(observed.counts, expected: expected) }
    package var worstText: String { Self.text(worst.counts, expected: worstExpected) }
    package var thresholdText: String { level == .reference ? threshold.multiple : threshold.percent }

    private static func text(_ counts: AttemptCounts, expected: Double?) -> String {
        if let expected { return expected > 0 ? Fraction.rounded(Double(counts.bad) / expected) + "×" : "–" }
        return counts.share.map(Fraction.percent) ?? "no attempts"
    }
}
