import AlertRules
import Foundation
import PushContract

/// What a plan means for the stored alerts of a rule, in order.
enum AlertChange: Sendable {
    /// `receivers`: the receivers to notify, unless it is silenced. Set once it is known what explains the alert.
    case fire(Alert, Transition, receivers: [String])
    case resolve(Alert, minute: Minute)
    /// It has ended and goes on: those who were notified of the end are notified that it fires again; the others as of one that begins.
    case reopen(Alert, minute: Minute, receivers: [String])
    /// `isDue`: a silence or its cause ended while the alert still fires, so it is notified now.
    case update(Alert, isDue: Bool)
}

/// Turns transitions into changes of alerts: a pure function of what is stored and what was decided.
struct AlertChanges {
    let rule: AlertRule
    let last: Minute
    let now: Timestamp
    let lag: Duration
    /// Who accepted the level of a group now, and why.
    var accepted: [GroupKey: String] = [:]
    /// Firing alerts as stored, by group.
    private(set) var open: [GroupKey: Alert]
    /// The alert of each group that ended last, where it may be opened again.
    private var closed: [GroupKey: Alert]
    private(set) var changes: [AlertChange] = []
    private var touched: Set<GroupKey> = []

    init(rule: AlertRule, open: [Alert], closed: [Alert] = [], last: Minute, now: Timestamp, lag: Duration) {
        self.rule = rule
        self.last = last
        self.now = now
        self.lag = lag
        self.open = Dictionary(open.map { ($0.group, $0) }, uniquingKeysWith: { first, _ in first })
        self.closed = Dictionary(closed.map { ($0.group, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// `isOver`: it fires, or fires again, and is over by the same evaluation.
    mutating func apply(_ transition: Transition, frozen: [FrozenShare], isOver: Bool = false) {
        switch transition.kind {
        case .fired: fire(transition, frozen: frozen, isOver: isOver)
        case .resolved: resolve(transition)
        case .reopened: reopen(transition, frozen: frozen, isOver: isOver)
        }
    }

    /// The rule changed, or is gone: what the new version does not confirm is over.
    mutating func resolveUnconfirmed(_ confirmed: Set<GroupKey>, reason: Transition.Reason = .ruleChanged) {
        for (group, var alert) in open.sorted(by: { $0.key < $1.key }) where !confirmed.contains(group) {
            alert.state = .resolved
            alert.endsAt = (last + 1).timestamp
            alert.resolvedAt = (last + 1).timestamp
            alert.resolvedReason = reason.rawValue
            open[group] = nil
            changes.append(.resolve(alert, minute: last))
        }
    }

    private static let foundLate = "Found after it had ended: attempts were reported late, or rules were not evaluated in time."

    /// An alert that goes on under the new version stays one alert.
    private mutating func fire(_ transition: Transition, frozen: [FrozenShare], isOver: Bool = false) {
        guard open[transition.group] == nil else { return }
        let alert = beginning(transition, frozen: frozen, isOver: isOver)
        open[transition.group] = alert
        touched.insert(transition.group)
        changes.append(.fire(alert, transition, receivers: []))
    }

    /// An incident that was found when it was over, independent of later alerts of its group.
    mutating func record(_ incident: LateReconciliation.Incident) {
        var alert = beginning(incident.begin, frozen: [], isOver: true)
        let ended = ended(alert, incident.end)
        alert.state = .resolved
        alert.resolvedAt = ended.resolvedAt
        changes.append(.fire(alert, incident.begin, receivers: []))
        changes.append(.resolve(ended, minute: incident.end.minute))
    }

    private func beginning(_ transition: Transition, frozen: [FrozenShare], isOver: Bool) -> Alert {
        let firedAt = transition.firedAt.timestamp
        // Nobody is paged for an alert that is over.
        let severity = isOver && transition.severity.pages ? .ticket : transition.severity
        var annotations = rule.annotations.rendered(transition.facts)
        if isOver { annotations["late"] = Self.foundLate }
        return Alert(
            id: UUID(),
            rule: rule.name,
            ruleVersion: rule.version,
            group: transition.group,
            labels: rule.labels(of: transition.group, severity: severity),
            severity: severity,
            state: .firing,
            startsAt: transition.startsAt.timestamp,
            firedAt: firedAt,
            detectedLateBySeconds: max(0, (now - (firedAt + lag)).components.seconds),
            evidence: transition.evidence,
            contributors: [],
            reproduceSQL: ReproducingSQL.text(transition, rule: rule, frozen: frozen),
            annotations: annotations,
            revised: false
        )
    }

    private mutating func resolve(_ transition: Transition) {
        guard let alert = open.removeValue(forKey: transition.group).map({ ended($0, transition) }) else { return }
        closed[transition.group] = alert
        changes.append(.resolve(alert, minute: transition.minute))
    }

    private func ended(_ firing: Alert, _ transition: Transition) -> Alert {
        var alert = firing
        alert.state = .resolved
        alert.endsAt = transition.endsAt?.timestamp
        alert.resolvedAt = (transition.minute + 1).timestamp
        alert.resolvedReason = transition.reason.rawValue
        alert.evidence = transition.evidence
        let late = alert.annotations["late"]
        alert.annotations = rule.annotations.rendered(transition.facts)
        alert.annotations["late"] = late
        if transition.reason == .accepted { alert.annotations["accepted"] = accepted[transition.group] ?? "" }
        return alert
    }

    /// Records what changed about an alert that was open before and still is.
    mutating func refresh(_ group: GroupKey, _ change: (inout Alert) -> Void) {
        guard let stored = open[group], !touched.contains(group) else { return }
        var alert = stored
        change(&alert)
        open[group] = alert
        guard alert != stored else { return }
        changes.append(.update(alert, isDue: stored.isMuted && !alert.isMuted))
    }

    /// The newest alert of the group goes on. When it is not stored any more, the transition begins one.
    private mutating func reopen(_ transition: Transition, frozen: [FrozenShare], isOver: Bool) {
        guard open[transition.group] == nil else { return }
        guard var alert = closed.removeValue(forKey: transition.group) else {
            return fire(transition, frozen: frozen, isOver: isOver)
        }
        // Nobody was paged for what was found when it was over: if it pages now, it is an alert of its own.
        if !isOver, transition.severity.pages, !alert.severity.pages { return fire(transition.asBeginning, frozen: frozen) }
        alert.state = .firing
        alert.endsAt = nil
        alert.resolvedAt = nil
        alert.resolvedReason = nil
        alert.evidence = transition.evidence
        alert.annotations = rule.annotations.rendered(transition.facts)
        if isOver { alert.annotations["late"] = Self.foundLate }
        open[transition.group] = alert
        touched.insert(transition.group)
        changes.append(.reopen(alert, minute: transition.minute, receivers: []))
    }
}
