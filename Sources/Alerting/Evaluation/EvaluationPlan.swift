import AlertRules

/// What one evaluation of one rule comes to: a pure function of checkpoint and data.
///
/// Everything after a group's checkpoint is folded; transitions found there have not been emitted before. The new checkpoint stands
/// at the last transition, or `recompute` minutes back if that is newer: what was emitted is never taken back, and what was not can
/// still change by late rows.
struct EvaluationPlan: Sendable {
    var states: [GroupKey: AlertState] = [:]
    /// In order of minute and group.
    var transitions: [Transition] = []
    /// The groups that are firing at the last minute, with their newest numbers.
    var open: [GroupKey: FiringAlert] = [:]

    /// The minute after which each group is folded.
    static func base(_ checkpoint: RuleCheckpoint, last: Minute, recompute: Int, initialLookbackMinutes: Int) -> Minute {
        let horizon = last - initialLookbackMinutes
        guard let asOf = checkpoint.asOf else { return horizon }
        return max(asOf - recompute, horizon)
    }

    static func make(
        _ rule: AlertRule,
        _ histories: [GroupHistory],
        _ checkpoint: RuleCheckpoint,
        last: Minute,
        recompute: Int,
        initialLookbackMinutes: Int
    ) -> EvaluationPlan {
        let base = base(checkpoint, last: last, recompute: recompute, initialLookbackMinutes: initialLookbackMinutes)
        let present = Set(histories.map(\.group))
        let quiet = checkpoint.states.keys.filter { !present.contains($0) }.map { GroupHistory(group: $0, strata: []) }
        var plan = EvaluationPlan()
        for history in histories + quiet {
            let state = checkpoint.states[history.group] ?? AlertState(asOf: base)
            plan.add(rule, history, from: state, isNewRule: checkpoint.asOf == nil, last: last, recompute: recompute)
        }
        plan.transitions.sort { ($0.minute, $0.group) < ($1.minute, $1.group) }
        return plan
    }

    private mutating func add(
        _ rule: AlertRule,
        _ history: GroupHistory,
        from state: AlertState,
        isNewRule: Bool,
        last: Minute,
        recompute: Int
    ) {
        let fold = RuleEvaluation.fold(rule, history, from: state, through: last)
        let newest = fold.transitions.last?.minute
        let settled = [newest, last - recompute, state.asOf].compactMap { $0 }.max() ?? last
        let kept = RuleEvaluation.fold(rule, history, from: state, through: min(settled, last)).state
        // A group that neither fires nor has traffic is the same as one never seen.
        if kept.open != nil || fold.state.open != nil || !history.total.isEmpty { states[history.group] = kept }
        open[history.group] = fold.state.open
        transitions += isNewRule ? RuleAdoption.announced(fold) : fold.transitions
    }
}
