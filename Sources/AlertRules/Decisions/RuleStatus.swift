/// How near a rule is to firing: answers "is it getting worse?" before there is an alert.
package struct RuleStatus: Sendable, Hashable {
    /// 0 is healthy, 1 is firing; below 1 as long as anything is missing.
    package let fraction: Double
    /// The condition is met in full at this minute.
    package let isSet: Bool
    /// The numbers behind it, for people.
    package let text: String

    /// The part that is furthest away decides.
    init(isSet: Bool, parts: [Double], text: String) {
        self.isSet = isSet
        self.text = text
        fraction = isSet ? 1 : min(0.99, max(0, parts.min() ?? 0))
    }
}

/// One minute on a rule's chart.
package struct RuleChartPoint: Sendable, Hashable {
    package var minute: Minute
    package var counts: AttemptCounts
    /// Bad attempts expected in the window that ends here (baseline only).
    package var expected: Double?
    package var verdict: RatioVerdict

    package init(minute: Minute, counts: AttemptCounts, expected: Double? = nil, verdict: RatioVerdict) {
        self.minute = minute
        self.counts = counts
        self.expected = expected
        self.verdict = verdict
    }
}
