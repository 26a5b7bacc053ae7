/// Takes up a rule that is new, or whose version changed: a new latch, computed over the history there is.
///
/// What fired and ended before the rule existed is nobody's alert; a condition that holds already is known at once.
package enum RuleAdoption {
    /// `previous` is the open episode of the rule's former version, if any.
    ///
    /// Both fire: the episode goes on under the new version, with its own times, and nothing is announced. Only the former fired:
    /// it is resolved with the reason `rule_changed`. Only the new one fires: it is announced with its true beginning.
    package static func adopt(
        _ rule: AlertRule,
        _ history: GroupHistory,
        previous: OpenEpisode? = nil,
        through last: Minute
    ) -> Fold {
        var fold = RuleEvaluation.fold(rule, history, through: last)
        fold.state.asOf = last
        let announced = fold.transitions.last { $0.kind == .fired }
        fold.transitions = []
        switch (previous, fold.state.open) {
        case (nil, nil):
            break
        case (nil, .some):
            if let announced { fold.transitions = [announced] }
        case (.some(let previous), .some(var open)):
            open.startsAt = min(open.startsAt, previous.startsAt)
            open.firedAt = previous.firedAt
            fold.state.open = open
        case (.some(let previous), nil):
            fold.transitions = [ended(previous, rule, history.group, at: last)]
        }
        return fold
    }

    /// The end of an episode whose rule changed or was removed.
    package static func ended(_ episode: OpenEpisode, _ rule: AlertRule, _ group: GroupKey, at last: Minute) -> Transition {
        Transition(
            kind: .resolved,
            reason: .ruleChanged,
            rule: rule.name,
            ruleVersion: rule.version,
            group: group,
            severity: rule.severity,
            minute: last,
            startsAt: episode.startsAt,
            firedAt: episode.firedAt,
            endsAt: last + 1,
            evidence: episode.evidence
        )
    }
}
