extension BurnRateCondition: Condition {
    var definition: String { "burn-rate/1" }

    var source: SeriesSource { .attempts }
    var level: Evidence.Level { .threshold }
    var lookback: Int { long.minutes }
    var leastBad: Int64 { minBad }
    var scenarioShare: Double? { threshold.double }

    func summary(_ words: (RuleDuration) -> String) -> String {
        "a burn rate above \(rate.multiple) of \(objective.percent) over \(words(long)) and \(words(short))"
    }

    var versionSettings: [String] {
        [
            "objective=\(objective.versionText)", "rate=\(rate.versionText)", "long=\(long.minutes)", "short=\(short.minutes)",
            "min_attempts=\(minAttempts)", "min_bad=\(minBad)",
        ]
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        BurnRateDecision(condition: self, series: history.total)
    }
}

extension ConditionKind {
    static let burnRate = ConditionKind(key: "burn_rate") { BurnRateReader(rule: $0).condition() }
}

extension RuleCondition {
    package static func burnRate(_ condition: BurnRateCondition) -> RuleCondition { RuleCondition(condition) }
}
