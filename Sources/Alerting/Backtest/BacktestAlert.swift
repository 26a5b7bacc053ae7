package import AlertRules

/// An alert that would have been raised if the rule had been in force all the time.
package struct BacktestAlert: Sendable, Hashable {
    package var fired: Transition
    /// The ends after which the same alert was opened again, and when that was.
    package var interruptions: [Transition] = []
    /// Nil when it still fires at the end of the backtest.
    package var resolved: Transition?
    /// The newest minute at which its condition was met.
    package var lastSet: Minute
    /// Whether it would have been notified, as far as `suppressed_by` is concerned.
    package var suppression = Suppression.Outcome.notified

    package init(fired: Transition, resolved: Transition?, lastSet: Minute) {
        self.fired = fired
        self.resolved = resolved
        self.lastSet = lastSet
    }

    package var group: GroupKey { fired.group }
    package var severity: Severity { fired.severity }
    /// The first minute after the one that fired, and the first after the one that resolved.
    package var firedAt: Minute { fired.firedAt }
    package var resolvedAt: Minute? { resolved.map { $0.minute + 1 } }

    /// From firing to resolved, or to the end of the backtest.
    package func minutes(through last: Minute) -> Int { (resolvedAt ?? last + 1) - firedAt }

    /// Whether it was still firing after this minute.
    func lasts(since: Minute) -> Bool { resolvedAt.map { $0 > since } ?? true }

    var span: Suppression.Span {
        Suppression.Span(
            rule: fired.rule,
            group: group,
            startsAt: fired.startsAt,
            firedAt: firedAt,
            resolvedAt: resolvedAt,
            severity: severity
        )
    }

    /// No notification would have been sent.
    package var isSuppressed: Bool {
        if case .suppressed = suppression { true } else { false }
    }

    /// Pairs the transitions of one rule, which fires at the end in the groups that are `open`.
    static func pairs(_ transitions: [Transition], open states: [GroupKey: AlertState]) -> [BacktestAlert] {
        var open: [GroupKey: BacktestAlert] = [:]
        var alerts: [BacktestAlert] = []
        for transition in transitions {
            switch transition.kind {
            case .fired: open[transition.group] = BacktestAlert(fired: transition, resolved: nil, lastSet: transition.lastSet)
            case .reopened:
                guard let index = alerts.lastIndex(where: { $0.group == transition.group }) else { continue }
                var alert = alerts.remove(at: index)
                alert.interruptions += [alert.resolved, transition].compactMap { $0 }
                alert.resolved = nil
                open[transition.group] = alert
            case .resolved:
                guard var alert = open.removeValue(forKey: transition.group) else { continue }
                alert.resolved = transition
                alert.lastSet = transition.lastSet
                alerts.append(alert)
            }
        }
        alerts += open.values.map { alert in
            var alert = alert
            alert.lastSet = states[alert.group]?.open?.lastSet ?? alert.lastSet
            return alert
        }
        return alerts.sorted { ($0.firedAt, $0.group) < ($1.firedAt, $1.group) }
    }
}
