extension LatencyCondition: Condition {
    var definition: String { "latency/1" }

    var source: SeriesSource { .attempts }
    var reasons: [String] { [] }
    var of: AttemptFilter { ratio.of }
    var threshold: Fraction { ratio.above }
    var level: Evidence.Level { .threshold }
    var lookback: Int { ratio.lookback }
    var leastBad: Int64 { ratio.leastBad }
    var scenarioShare: Double? { ratio.scenarioShare }

    func summary(_ words: (RuleDuration) -> String) -> String {
        "p\(Fraction.rounded(percentile.double)) of the latency above \(LatencyReader.text(aboveMs)) for \(words(ratio.duration))"
    }

    var versionSettings: [String] {
        ["slower_than_ms=\(aboveMs)", "min_attempts=\(ratio.minAttempts)"] + ratio.versionSettings
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        RatioDecision(ratio, series: history.total, from: first, through: last)
    }
}

extension ConditionKind {
    static let latency = ConditionKind(key: "latency", groups: { $0.groups(among: LatencyReader.dimensions, LatencyReader.why) }) {
        LatencyReader(rule: $0).condition()
    }
}

extension RuleCondition {
    package static func latency(_ condition: LatencyCondition) -> RuleCondition { RuleCondition(condition) }

    package var latency: LatencyCondition? { base as? LatencyCondition }
}
