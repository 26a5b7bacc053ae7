/// `pushwatch rules check`: everything that can be said about rules without data.
package enum RuleCheck {
    /// Errors and warnings of all rule files and rule tests below an alerts directory, by place.
    package static func check(alertsDirectory path: String) -> [Finding] {
        let directory = AlertsDirectory(path: path)
        let set = directory.ruleSet()
        let tests = directory.testSources()
        let (_, findings) = RuleTestFile.read(tests.sources, rules: set.rules)
        return (set.findings + tests.findings + findings).sorted()
    }

    /// A healthy share above half the threshold pages falsely before long (§2.2). `healthy` is the 95th percentile of
    /// the share over 28 days, from a database.
    package static func healthyShareFinding(_ rule: AlertRule, group: GroupKey, healthy: Double) -> Finding? {
        guard case .ratio(let ratio) = rule.condition, healthy > ratio.above.double / 2 else { return nil }
        let message =
            "'\(rule.name)' (\(group)): the healthy share reaches \(Fraction.percent(healthy)), more than half of "
            + "\(ratio.above.percent); expect false alarms"
        return Finding(.warning, at: rule.source, key: "ratio.above", message)
    }

    /// One line for each finding, and a last line with the count.
    package static func text(_ findings: [Finding], rules: Int) -> String {
        let errors = findings.count { $0.severity == .error }
        let summary = "\(rules) rules, \(errors) errors, \(findings.count - errors) warnings"
        return (findings.map(\.description) + [summary]).joined(separator: "\n")
    }
}
