/// All rules of an alerts directory, with the findings about them.
package struct RuleSet: Sendable, Hashable {
    /// The rules without errors, in the order of the files.
    package let rules: [AlertRule]
    /// Errors and warnings, by position.
    package let findings: [Finding]

    package init(rules: [AlertRule], findings: [Finding]) {
        self.rules = rules
        self.findings = findings
    }

    /// A set with errors must not replace one without.
    package var hasErrors: Bool { findings.contains { $0.severity == .error } }

    package subscript(name: String) -> AlertRule? { rules.first { $0.name == name } }

    /// Reads files that were loaded already. `runbookExists` is asked for paths relative to the alerts directory.
    package static func read(_ sources: [SourceText], runbookExists: (String) -> Bool) -> RuleSet {
        let collector = FindingCollector()
        let rules = sources.flatMap { RuleFileReader(source: $0, findings: collector).rules() }
        var unique: [String: AlertRule] = [:]
        for rule in rules {
            if let first = unique[rule.name] {
                collector.error(at: rule.source, key: "alert", "'\(rule.name)' is defined twice; first at \(first.source)")
            } else {
                unique[rule.name] = rule
            }
            if BuiltInAlert(rawValue: rule.name) != nil {
                collector.error(at: rule.source, key: "alert", "'\(rule.name)' is an alert of Pushwatch itself; take another name")
            }
            let runbook = rule.annotations.runbook
            if !runbook.contains("://"), !runbookExists(runbook) {
                collector.error(at: rule.source, key: "annotations.runbook", "'\(rule.name)': there is no file '\(runbook)'")
            }
        }
        let kept = rules.filter { unique[$0.name]?.source == $0.source }
        SuppressionReader.check(kept, collector)
        return RuleSet(rules: kept, findings: collector.findings.sorted())
    }
}
