/// Evaluates rules over histories. Pure: the same data give the same answer, live, after a restart and in a backtest.
package enum RuleEvaluation {
    /// How far back a fold begins when there is no checkpoint.
    package static let horizon = 14 * 1440

    /// Folds every closed minute after `state.asOf` up to and including `last` into the state.
    ///
    /// The history must reach `rule.lookback` minutes before the first folded minute, or to the beginning of the data.
    package static func fold(
        _ rule: AlertRule,
        _ history: GroupHistory,
        from state: AlertState = AlertState(),
        through last: Minute
    ) -> Fold {
        let start = [history.total.isEmpty ? nil : history.total.first, history.circuits.first].compactMap { $0 }.min() ?? last
        let first = state.asOf.map { $0 + 1 } ?? max(start, last - (horizon - 1))
        guard first <= last else { return Fold(state: state, transitions: []) }
        let stateMachine = AlertStateMachine(
            rule: rule,
            group: history.group,
            decision: rule.condition.base.decision(history, from: first, through: last)
        )
        return stateMachine.fold(state, from: first, through: last)
    }

    /// Folds all groups of a rule; transitions are ordered by minute, then by group.
    ///
    /// A group that has a state but no history any more keeps its state with an empty history.
    package static func evaluate(
        _ rule: AlertRule,
        histories: [GroupHistory],
        from states: [GroupKey: AlertState] = [:],
        through last: Minute
    ) -> (states: [GroupKey: AlertState], transitions: [Transition]) {
        let present = Set(histories.map(\.group))
        let absent = states.keys.filter { !present.contains($0) }.sorted().map { GroupHistory(group: $0, strata: []) }
        var result: (states: [GroupKey: AlertState], transitions: [Transition]) = ([:], [])
        for history in histories + absent {
            let fold = fold(rule, history, from: states[history.group] ?? AlertState(), through: last)
            result.states[history.group] = fold.state
            result.transitions += fold.transitions
        }
        result.transitions.sort { ($0.minute, $0.group) < ($1.minute, $1.group) }
        return result
    }
}
