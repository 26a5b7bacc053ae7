extension FirstSightCondition: Condition {
    var definition: String { "first-sight/1" }

    var source: SeriesSource { .codes }
    var reasons: [String] { ["unknown"] }
    var threshold: Fraction { Fraction(1, 1) }
    var level: Evidence.Level { .firstSight }
    var lookback: Int { notSeenFor.minutes + 1440 }

    func summary(_ words: (RuleDuration) -> String) -> String { "a code of the provider that was never seen" }

    var versionSettings: [String] {
        [
            "not_seen_for=\(notSeenFor.minutes)", "ignore=\(ignore.sorted().joined(separator: ","))",
            "learn=\(learn.minutes)", "resolve_after=\(resolveAfter.minutes)",
        ]
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        FirstSightDecision(condition: self, history: history)
    }
}

extension ConditionKind {
    static let firstSight = ConditionKind(key: "first_sight", groups: { FirstSightReader(rule: $0).groups() }) {
        FirstSightReader(rule: $0).condition()
    }
}

extension RuleCondition {
    package static func firstSight(_ condition: FirstSightCondition) -> RuleCondition { RuleCondition(condition) }
}
