/// The texts of an alert.
package struct RuleAnnotations: Sendable, Hashable {
    /// One line: what broke.
    package var summary: AnnotationTemplate
    /// What that means for the people who get, or do not get, pushes.
    package var meaning: AnnotationTemplate?
    /// What to do now.
    package var action: AnnotationTemplate
    /// A file relative to the alerts directory, or an http(s) address.
    package var runbook: String
    /// Any other annotation, by name.
    package var others: [String: AnnotationTemplate]

    package init(
        summary: AnnotationTemplate,
        meaning: AnnotationTemplate? = nil,
        action: AnnotationTemplate,
        runbook: String,
        others: [String: AnnotationTemplate] = [:]
    ) {
        self.summary = summary
        self.meaning = meaning
        self.action = action
        self.runbook = runbook
        self.others = others
    }

    /// All annotations with their placeholders filled in; `runbook` as written.
    package func rendered(_ facts: AnnotationContext) -> [String: String] {
        var result = others.mapValues { $0.rendered(facts) }
        result["summary"] = summary.rendered(facts)
        result["meaning"] = meaning?.rendered(facts)
        result["action"] = action.rendered(facts)
        result["runbook"] = runbook
        if facts.evidence.level == .blocked, let text = facts.evidence.openCircuitsText {
            result.merge(Self.blockedAnnotations(text, facts)) { $1 }
        }
        return result
    }

    /// A share of the attempts is meaningless when nothing is attempted.
    private static func blockedAnnotations(_ text: String, _ facts: AnnotationContext) -> [String: String] {
        let counts = facts.evidence.observed.counts
        let provider = facts.group[.provider] ?? "The provider"
        let isRefused = (facts.evidence.openCircuits ?? []).contains { ($0.reason ?? "auth") == "auth" }
        let cause =
            isRefused
            ? "\(provider) refuses the credential: its circuit is open, so the pushes that need it wait and only probes are attempted. "
                + "None of them arrives until the credential is fixed; then those that have not expired are sent."
            : "\(provider) is down: its circuit is open, so pushes wait and only probes are attempted. When it is back, those that "
                + "have not expired are sent at once, critical ones first."
        return [
            "summary": facts.group[.provider].map { "\($0): \(text)" } ?? text,
            "meaning":
                "\(cause) In the last "
                + "\(RuleDuration(minutes: facts.evidence.observed.minutes)) \(counts.attempts) attempts were made, "
                + "and \(counts.bad) failed so.",
        ]
    }
}
