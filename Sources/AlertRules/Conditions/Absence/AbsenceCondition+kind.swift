extension AbsenceCondition: Condition {
    var definition: String { "absence/1" }

    var source: SeriesSource { .attempts }
    var reasons: [String] { Self.reasons }
    var threshold: Fraction { Fraction(1, 1) }
    var level: Evidence.Level { .absence }
    /// Nothing succeeds: what is usual is far away from that.
    var scenarioShare: Double? { 0.05 }

    func summary(_ words: (RuleDuration) -> String) -> String { "sends, and no success" }

    var versionSettings: [String] {
        [
            "for=\(duration.minutes)", "min_attempts=\(minAttempts)", "resolve_after=\(resolveAfter.minutes)",
            "min_successes=\(minSuccesses)", "resolve_within=\(resolveWithin.minutes)",
        ]
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        AbsenceDecision(condition: self, series: history.total)
    }
}

extension ConditionKind {
    static let absence = ConditionKind(key: "absence") { AbsenceReader(rule: $0).condition() }
}

extension RuleCondition {
    package static func absence(_ condition: AbsenceCondition) -> RuleCondition { RuleCondition(condition) }
}
