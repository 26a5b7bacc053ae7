extension ReregistrationCondition: Condition {
    var definition: String { "reregistration/1" }

    var source: SeriesSource { .reregistrations }
    var reasons: [String] { ["token_not_registered"] }
    var threshold: Fraction { below }
    var level: Evidence.Level { .reregistration }
    var decidesEvery: Int { 60 }
    var lookback: Int { reference.minutes + window.minutes }

    func summary(_ words: (RuleDuration) -> String) -> String { "devices that stay away after token_not_registered" }

    var versionSettings: [String] {
        [
            "window=\(window.minutes)", "min_devices=\(minDevices)", "reference=\(reference.minutes)",
            "min_devices_per_day=\(minDevicesPerDay)", "min_days=\(minDays)", "alpha=\(alpha.versionText)",
            "resolve_at=\(resolveAt.versionText)", "resolve_after=\(resolveAfter.minutes)",
        ]
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        ReregistrationDecision(condition: self, series: history.total)
    }
}

extension ConditionKind {
    static let reregistration = ConditionKind(
        key: "reregistration",
        groups: { $0.groups(among: [.provider, .app], "devices are followed by provider and app") }
    ) { ReregistrationReader(rule: $0).condition() }
}

extension RuleCondition {
    package static func reregistration(_ condition: ReregistrationCondition) -> RuleCondition { RuleCondition(condition) }
}
