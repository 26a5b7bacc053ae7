/// The values of placeholders.
package struct AnnotationContext: Sendable, Hashable {
    package var rule: String
    package var severity: Severity
    package var group: GroupKey
    package var startsAt: Minute
    package var evidence: Evidence

    package init(rule: String, severity: Severity, group: GroupKey, startsAt: Minute, evidence: Evidence) {
        self.rule = rule
        self.severity = severity
        self.group = group
        self.startsAt = startsAt
        self.evidence = evidence
    }

    func value(of placeholder: Placeholder) -> String {
        switch placeholder {
        case .group(let dimension):
            let value = group[dimension] ?? ""
            return value.isEmpty ? "(no \(dimension.rawValue))" : value
        case .fact(let fact): return value(of: fact)
        }
    }

    private func value(of fact: Placeholder.Fact) -> String {
        switch fact {
        case .observed: evidence.observedText
        case .threshold: evidence.thresholdText
        case .bad: String(evidence.observed.counts.bad)
        case .attempts: String(evidence.observed.counts.attempts)
        case .expected: evidence.expected.map(Fraction.rounded) ?? "–"
        case .since: startsAt.description
        case .window: RuleDuration(minutes: evidence.observed.minutes).description
        case .worst: evidence.worstText
        case .group: group.description
        case .rule: rule
        case .severity: severity.rawValue
        case .multiple: evidence.multipleText
        }
    }
}
