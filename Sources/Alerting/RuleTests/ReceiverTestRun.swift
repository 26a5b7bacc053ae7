import AlertRules
import Foundation
import PushContract

/// The alerts of a rule test, minute by minute. Causes come before what they suppress.
struct ReceiverTestRun {
    struct State {
        let id = UUID()
        /// When each receiver was first notified.
        var notified: [String: Int] = [:]
        var isSilenced = false
        var suppressedBy: Int?
        /// The newest step of escalation, and when it was taken.
        var step = 0
        var since = 0
    }

    let set: ReceiverSet
    let test: RuleTest
    let alerts: [TestedAlert]
    private(set) var states: [State]

    init(set: ReceiverSet, test: RuleTest, alerts: [TestedAlert]) {
        self.set = set
        self.test = test
        self.alerts = alerts
        states = alerts.map { _ in State() }
    }

    /// What happens when the minute before `time` closes, and is delivered.
    mutating func step(at time: Int) {
        for (index, alert) in alerts.enumerated() where alert.fires <= time && alert.resolves.map({ time < $0 }) ?? true {
            notify(index, alert, at: time)
            escalate(index, alert, at: time)
        }
    }

    private mutating func notify(_ index: Int, _ alert: TestedAlert, at time: Int) {
        let wasMuted = states[index].isSilenced || states[index].suppressedBy != nil
        let begins = time == alert.fires
        states[index].isSilenced = test.events.silences.contains { $0.from <= time && time < $0.to && $0.matches(alert.labels) }
        var names = set.names(for: alert.severity, rule: alert.rule, labels: alert.labels)
        if begins || states[index].suppressedBy != nil {
            let suppression = suppression(index, alert, names, at: time)
            states[index].suppressedBy = suppression?.cause
            if begins, let unnotified = suppression?.unnotified { names = unnotified }
        }
        guard !states[index].isSilenced, begins || wasMuted && states[index].suppressedBy == nil else { return }
        for name in names where states[index].notified[name] == nil { states[index].notified[name] = time }
        states[index].since = time
    }

    /// As `SuppressionCandidates` does over stored alerts.
    private func suppression(_ index: Int, _ alert: TestedAlert, _ names: [String], at time: Int) -> (cause: Int, unnotified: [String])? {
        let candidates = alerts.indices.filter {
            test.rules[alert.rule]?.suppressedBy.contains(alerts[$0].rule) == true && alerts[$0].fires <= time
        }
        let causes = SuppressionCandidates(
            candidates.map { cause in
                SuppressionCandidates.Cause(
                    span: alerts[cause].span,
                    suppressedBy: SuppressingAlert(
                        alertId: states[cause].id,
                        rule: alerts[cause].rule,
                        group: alerts[cause].group.description
                    ),
                    notified: notified(cause)
                )
            }
        )
        let minute = RuleTest.start + (time - 1)
        let match = causes.suppression(
            of: alert.span,
            lastSet: min(minute, RuleTest.start + (alert.lastSet - 1)),
            at: minute,
            receivers: names
        )
        guard let match, let cause = states.firstIndex(where: { $0.id == match.suppressedBy.alertId }) else { return nil }
        return (cause, match.unnotified)
    }

    /// Includes the receivers that were notified of the cause of the cause.
    private func notified(_ index: Int) -> Set<String> {
        let own = states[index].isSilenced ? [] : Set(states[index].notified.keys)
        return own.union(states[index].suppressedBy.map { notified($0) } ?? [])
    }

    private mutating func escalate(_ index: Int, _ alert: TestedAlert, at time: Int) {
        guard let policy = set.escalation, alert.severity.pages, !states[index].isSilenced, states[index].suppressedBy == nil,
            alert.rule != test.rule.name || test.events.acknowledged.map({ time < $0 }) ?? true
        else { return }
        let people = set.people
        while let escalation = policy.next(after: escalationState(states[index], people), people: people, at: moment(time)) {
            for name in escalation.receivers { states[index].notified[name] = time }
            states[index].step = escalation.step
            states[index].since = time
        }
    }

    private func escalationState(_ state: State, _ people: Set<String>) -> EscalationState {
        let accepted = state.notified.filter { name, time in
            time >= state.since && people.contains(name) && !test.events.unreachable.contains(name)
        }
        return EscalationState(
            step: state.step,
            since: moment(state.since),
            isConfirmed: !accepted.isEmpty,
            notified: Set(state.notified.keys)
        )
    }

    private func moment(_ time: Int) -> Timestamp { (RuleTest.start + time).timestamp }
}

extension TestedAlert {
    fileprivate var span: Suppression.Span {
        Suppression.Span(
            rule: rule,
            group: group,
            startsAt: RuleTest.start + starts,
            firedAt: RuleTest.start + fires,
            resolvedAt: resolves.map { RuleTest.start + $0 },
            severity: severity
        )
    }
}

extension RuleTest.TestSilence {
    fileprivate func matches(_ present: [String: String]) -> Bool {
        labels.allSatisfy { SilenceMatcher(name: $0.key, value: $0.value).matches(present) }
    }
}
