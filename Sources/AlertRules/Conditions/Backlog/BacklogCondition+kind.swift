extension BacklogCondition: Condition {
    var definition: String { "backlog/1" }

    var source: SeriesSource { .backlog }
    var reasons: [String] { [] }
    var threshold: Fraction { Fraction(above, 1) }
    var level: Evidence.Level { .backlog }
    var lookback: Int { max(duration.minutes * 4 / 3, resolveAfter.minutes) }

    func summary(_ words: (RuleDuration) -> String) -> String { "a backlog that grows" }

    var versionSettings: [String] {
        ["for=\(duration.minutes)", "grows_by=\(growsBy.versionText)", "resolve_after=\(resolveAfter.minutes)"]
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        BacklogDecision(condition: self, series: history.total)
    }
}

extension ConditionKind {
    static let backlog = ConditionKind(key: "backlog", groups: { $0.groups(among: [.provider], "what waits is counted by provider") }) {
        BacklogReader(rule: $0).condition()
    }
}

extension RuleCondition {
    package static func backlog(_ condition: BacklogCondition) -> RuleCondition { RuleCondition(condition) }
}
