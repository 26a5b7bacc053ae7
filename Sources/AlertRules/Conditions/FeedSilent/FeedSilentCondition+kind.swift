extension FeedSilentCondition: Condition {
    var definition: String { "feed-silent/1" }

    var source: SeriesSource { .feeds }
    var reasons: [String] { [] }
    var threshold: Fraction { Fraction(above, 1) }
    var level: Evidence.Level { .feedSilent }
    var lookback: Int { max(duration.minutes, resolveAfter.minutes) }

    func summary(_ words: (RuleDuration) -> String) -> String { "a source of live subjects that confirms nothing for \(words(duration))" }

    var versionSettings: [String] { ["for=\(duration.minutes)", "resolve_after=\(resolveAfter.minutes)"] }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        SampleDecision(
            series: history.total,
            threshold: above,
            duration: duration,
            resolveAfter: resolveAfter,
            level: level
        )
    }
}

extension ConditionKind {
    static let feedSilent = ConditionKind(
        key: "feed_silent",
        groups: { rule in
            rule.has("by") ? DimensionReader.dimensions(rule, "by", known: FeedSilentCondition.by) : FeedSilentCondition.by
        },
        read: { FeedSilentReader(rule: $0).condition() }
    )
}

extension RuleCondition {
    package static func feedSilent(_ condition: FeedSilentCondition) -> RuleCondition { RuleCondition(condition) }
}
