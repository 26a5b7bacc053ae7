package import AlertRules

/// An alert as it would have been, had the rule been in force all the time.
package struct BacktestEpisode: Sendable, Hashable {
    package var fired: Transition
    /// Nil when it still fires at the end of the backtest.
    package var resolved: Transition?

    package init(fired: Transition, resolved: Transition?) {
        self.fired = fired
        self.resolved = resolved
    }

    package var group: GroupKey { fired.group }
    package var severity: Severity { fired.severity }
    /// The first minute after the one that fired, and the first after the one that resolved.
    package var firedAt: Minute { fired.firedAt }
    package var resolvedAt: Minute? { resolved.map { $0.minute + 1 } }

    /// From firing to resolved, or to the end of the backtest.
    package func minutes(through last: Minute) -> Int { (resolvedAt ?? last + 1) - firedAt }

    /// Pairs the transitions of one rule; those that were over before `since` are left out.
    package static func pairs(_ transitions: [Transition], since: Minute) -> [BacktestEpisode] {
        var open: [GroupKey: Transition] = [:]
        var episodes: [BacktestEpisode] = []
        for transition in transitions {
            switch transition.kind {
            case .fired: open[transition.group] = transition
            case .resolved:
                if let fired = open.removeValue(forKey: transition.group) {
                    episodes.append(BacktestEpisode(fired: fired, resolved: transition))
                }
            }
        }
        episodes += open.values.map { BacktestEpisode(fired: $0, resolved: nil) }
        return episodes.filter { $0.resolvedAt.map { $0 > since } ?? true }
            .sorted { ($0.firedAt, $0.group) < ($1.firedAt, $1.group) }
    }
}
