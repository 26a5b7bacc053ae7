/// An alert that began, ended or began again.
package struct Transition: Sendable, Hashable, Codable {
    package enum Kind: String, Sendable, Hashable, Codable {
        case fired, resolved
        /// The condition is met again soon after the end: the same alert goes on.
        case reopened
    }

    package enum Reason: String, Sendable, Hashable, Codable {
        /// The condition of the rule was met.
        case conditionMet = "condition_met"
        /// Enough good attempts were seen.
        case recovered
        /// The learning period of a baseline is over, and it fires: the ticket ends where the page begins.
        case learned
        /// A page takes the place of a ticket: the volume is usual again, and it fires.
        case replaced
        /// Seven days at one level: it is the new normal.
        case relearned
        /// A person accepted the level as normal.
        case accepted
        /// The rule changed, and its new version does not fire. Set by the evaluator, never by a fold.
        case ruleChanged = "rule_changed"
        /// Attempts that were reported late contradict it. Set by the evaluator, never by a fold.
        case lateAttempts = "late_attempts"
    }

    package var kind: Kind
    package var reason: Reason
    package var rule: String
    package var ruleVersion: String
    package var group: GroupKey
    /// The rule's severity; an alert of a baseline in its learning period or under unusual volume is a ticket.
    package var severity: Severity
    /// The closed minute that decided.
    package var minute: Minute
    /// The first bad minute.
    package var startsAt: Minute
    /// The first minute after the one that set the alert.
    package var firedAt: Minute
    /// The newest minute at which the condition was met in full.
    package var lastSet: Minute
    /// The first minute of the good run; nil while firing.
    package var endsAt: Minute?
    /// Numbers now, with the worst window of the alert.
    package var evidence: Evidence

    package init(
        kind: Kind,
        reason: Reason,
        rule: String,
        ruleVersion: String,
        group: GroupKey,
        severity: Severity,
        minute: Minute,
        startsAt: Minute,
        firedAt: Minute,
        lastSet: Minute,
        endsAt: Minute? = nil,
        evidence: Evidence
    ) {
        self.kind = kind
        self.reason = reason
        self.rule = rule
        self.ruleVersion = ruleVersion
        self.group = group
        self.severity = severity
        self.minute = minute
        self.startsAt = startsAt
        self.firedAt = firedAt
        self.lastSet = lastSet
        self.endsAt = endsAt
        self.evidence = evidence
    }

    /// The values of the placeholders in the rule's annotations.
    package var facts: AnnotationContext {
        AnnotationContext(rule: rule, severity: severity, group: group, startsAt: startsAt, evidence: evidence)
    }
}

extension Transition {
    /// An alert that goes on after its end.
    package static func reopened(_ alert: FiringAlert, of rule: AlertRule, _ group: GroupKey, at minute: Minute) -> Transition {
        Transition(
            kind: .reopened,
            reason: .conditionMet,
            rule: rule.name,
            ruleVersion: rule.version,
            group: group,
            severity: rule.severity(at: alert.evidence.level),
            minute: minute,
            startsAt: alert.startsAt,
            firedAt: alert.firedAt,
            lastSet: alert.lastSet,
            evidence: alert.evidence
        )
    }

    /// A reopening as the beginning of a new alert.
    package var asBeginning: Transition {
        guard kind == .reopened else { return self }
        var beginning = self
        beginning.kind = .fired
        beginning.startsAt = evidence.observed.first
        beginning.firedAt = minute + 1
        return beginning
    }
}

/// The result of folding minutes into a state: the new state, and the transitions in order.
package struct Fold: Sendable, Hashable {
    package var state: AlertState
    package var transitions: [Transition]

    package init(state: AlertState, transitions: [Transition]) {
        self.state = state
        self.transitions = transitions
    }
}
