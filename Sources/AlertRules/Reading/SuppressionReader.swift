/// Reads `suppressed_by:`, and checks that of all rules.
enum SuppressionReader {
    static func causes(_ rule: MappingReader) -> [String] {
        var causes: [String] = []
        for (text, position) in rule.texts("suppressed_by") {
            if causes.contains(text) {
                rule.findings.error(at: position, key: "suppressed_by", "'\(text)' is listed twice")
            } else {
                causes.append(text)
            }
        }
        return causes
    }

    /// Names that exist, no cycles, and no lost page: a rule that suppresses a page must page itself.
    static func check(_ rules: [AlertRule], _ findings: FindingCollector) {
        let byName = Dictionary(rules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for rule in rules {
            func error(_ message: String) { findings.error(at: rule.source, key: "suppressed_by", "'\(rule.name)': " + message) }
            for name in rule.suppressedBy {
                guard let cause = byName[name] else {
                    let hint = Nearest.name(to: name, among: byName.keys.sorted()).map { "; did you mean '\($0)'?" } ?? ""
                    error("there is no rule '\(name)'\(hint)")
                    continue
                }
                if isCause(rule.name, of: name, byName, []) {
                    error(name == rule.name ? "a rule cannot suppress itself" : "'\(name)' is itself suppressed by this rule")
                } else if rule.severity.pages, !cause.severity.pages {
                    error("'\(name)' does not page, so it must not suppress a rule that does")
                }
            }
        }
    }

    /// Whether `name` suppresses `other`, directly or indirectly.
    private static func isCause(_ name: String, of other: String, _ rules: [String: AlertRule], _ seen: Set<String>) -> Bool {
        if name == other { return true }
        guard !seen.contains(other), let rule = rules[other] else { return false }
        return rule.suppressedBy.contains { isCause(name, of: $0, rules, seen.union([other])) }
    }
}
