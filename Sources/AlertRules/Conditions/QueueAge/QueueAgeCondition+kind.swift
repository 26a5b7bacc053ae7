extension QueueAgeCondition: Condition {
    var definition: String { "queue-age/1" }

    var source: SeriesSource { .queueAge }
    var reasons: [String] { [] }
    var threshold: Fraction { Fraction(Int64(above.minutes) * 60, 1) }
    var level: Evidence.Level { .queueAge }
    var lookback: Int { max(duration.minutes, resolveAfter.minutes) }

    func summary(_ words: (RuleDuration) -> String) -> String { "a due delivery that waits longer than \(words(above))" }

    var versionSettings: [String] { ["for=\(duration.minutes)", "resolve_after=\(resolveAfter.minutes)"] }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        SampleDecision(
            series: history.total,
            threshold: threshold.numerator,
            duration: duration,
            resolveAfter: resolveAfter,
            level: level,
            lead: above.minutes
        )
    }
}

extension ConditionKind {
    static let queueAge = ConditionKind(key: "queue_age", groups: { $0.groups(among: [.provider], "the queue is sampled by provider") }) {
        QueueAgeReader(rule: $0).condition()
    }
}

extension RuleCondition {
    package static func queueAge(_ condition: QueueAgeCondition) -> RuleCondition { RuleCondition(condition) }
}
