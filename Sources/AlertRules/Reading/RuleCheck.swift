/// `pushwatch rules check`: everything that can be checked about rules without data.
package enum RuleCheck {
    /// What was checked, and what was found.
    package struct Report: Sendable, Hashable {
        package var rules: [AlertRule]
        package var tests: Int
        /// By position.
        package var findings: [Finding]

        package init(rules: [AlertRule], tests: Int, findings: [Finding]) {
            self.rules = rules
            self.tests = tests
            self.findings = findings
        }

        package var hasErrors: Bool { findings.contains { $0.severity == .error } }

        /// One line for each finding, and a last line with the counts.
        package var text: String {
            let errors = findings.count { $0.severity == .error }
            let counts = [(rules.count, "rule"), (tests, "test"), (errors, "error"), (findings.count - errors, "warning")]
            let summary = counts.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }.joined(separator: ", ")
            return (findings.map(\.description) + [summary]).joined(separator: "\n")
        }
    }

    /// Errors and warnings of all rule files and rule tests below an alerts directory.
    package static func report(alertsDirectory path: String) -> Report {
        let directory = AlertsDirectory(path: path)
        let set = directory.ruleSet()
        let sources = directory.testSources()
        let (tests, findings) = RuleTestFile.read(sources.sources, rules: set.rules)
        return Report(rules: set.rules, tests: tests.count, findings: (set.findings + sources.findings + findings).sorted())
    }

    package static func check(alertsDirectory path: String) -> [Finding] { report(alertsDirectory: path).findings }

    /// A healthy share above half the threshold pages falsely before long (§2.2). `healthy` is the 95th percentile of
    /// the share over 28 days, from a database.
    package static func healthyShareFinding(_ rule: AlertRule, group: GroupKey, healthy: Double) -> Finding? {
        guard let ratio = rule.condition.ratio, healthy > ratio.above.double / 2 else { return nil }
        let message =
            "'\(rule.name)' (\(group)): the healthy share reaches \(Fraction.percent(healthy)), more than half of "
            + "\(ratio.above.percent); expect false alarms"
        return Finding(.warning, at: rule.source, key: "ratio.above", message)
    }
}
