extension BaselineCondition: Condition {
    var definition: String { "baseline/1" }

    var source: SeriesSource { .attempts }
    var threshold: Fraction { above }
    var level: Evidence.Level { .reference }
    var decidesEvery: Int { every.minutes }
    var lookback: Int { longestWindow.minutes }

    /// While it learns, it is compared with a fixed share.
    func threshold(at level: Evidence.Level) -> Fraction { level == .learning ? warnAbove ?? above : above }

    func summary(_ words: (RuleDuration) -> String) -> String {
        "\(reasons.joined(separator: ", ")) above \(above.multiple) of its baseline"
    }

    var versionSettings: [String] {
        [
            "reference=\(reference.minutes)", "windows=\(windows.map { String($0.minutes) }.joined(separator: ","))",
            "min_expected=\(minExpected.versionText)", "every=\(every.minutes)", "min_bad=\(minBad)",
            "alpha=\(alpha.versionText)", "overdispersion=\(overdispersion.versionText)",
            "strata=\(strata.map(\.rawValue).sorted().joined(separator: ","))",
            "min_major_share=\(minMajorShare.versionText)",
            "min_attempts_per_day=\(minAttemptsPerDay)", "min_days=\(minDays)", "shrink=\(shrink)",
            "floor=\(floor.versionText)", "gap=\(gap.minutes)", "resolve_at=\(resolveAt.versionText)",
            "resolve_min_expected=\(resolveMinExpected.versionText)", "warn_above=\(warnAbove.map(\.versionText) ?? "off")",
            "warn_min_bad=\(warnMinBad)",
        ] + (seasonality.map { ["seasonality=hour_of_week", "zone=\($0.zone)"] } ?? [])
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        BaselineDecision(self, history: history)
    }
}

extension ConditionKind {
    static let baseline = ConditionKind(key: "baseline") { BaselineReader(rule: $0).condition() }
}

extension RuleCondition {
    package static func baseline(_ condition: BaselineCondition) -> RuleCondition { RuleCondition(condition) }

    package var baseline: BaselineCondition? { base as? BaselineCondition }
}
