import AlertRules

/// The result of one evaluation of one rule: a pure function of checkpoint and data.
///
/// Everything after a group's checkpoint is folded; transitions found there have not been emitted before. The new checkpoint is at the last
/// transition, or `recompute` minutes back if that is newer: what was emitted is never withdrawn, and what was not can still change by late
/// rows.
struct EvaluationPlan: Sendable {
    /// Of the groups whose state differs from that of a group without alerts, `recompute` minutes back.
    var states: [GroupKey: AlertState] = [:]
    /// In order of minute and group.
    var transitions: [Transition] = []
    /// The groups that are firing at the last minute, with their newest numbers.
    var open: [GroupKey: FiringAlert] = [:]
    /// Their minutes.
    var series: [GroupKey: MinuteSeries] = [:]

    /// The minute after which each group without a state is folded.
    static func base(_ checkpoint: RuleCheckpoint, last: Minute, recompute: Int, initialLookbackMinutes: Int) -> Minute {
        guard let asOf = checkpoint.asOf else { return last - initialLookbackMinutes }
        return asOf - recompute
    }

    /// Takes what the other plan contains about these groups.
    mutating func replace(_ groups: Set<GroupKey>, by other: EvaluationPlan) {
        guard !groups.isEmpty else { return }
        for group in groups {
            states[group] = other.states[group]
            open[group] = other.open[group]
            series[group] = other.series[group]
        }
        transitions.removeAll { groups.contains($0.group) }
        transitions += other.transitions.filter { groups.contains($0.group) }
        transitions.sort { ($0.minute, $0.group) < ($1.minute, $1.group) }
    }
}

/// Makes a plan of one group after the other, so that their minutes need not be in memory together.
struct EvaluationPlanning {
    private let rule: AlertRule
    private let checkpoint: RuleCheckpoint
    private let last: Minute
    private let recompute: Int
    private let base: Minute
    private var plan = EvaluationPlan()
    /// Groups with a state whose minutes have not come.
    private var quiet: Set<GroupKey>

    init(_ rule: AlertRule, _ checkpoint: RuleCheckpoint, last: Minute, recompute: Int, initialLookbackMinutes: Int) {
        self.rule = rule
        self.checkpoint = checkpoint
        self.last = last
        self.recompute = recompute
        base = EvaluationPlan.base(checkpoint, last: last, recompute: recompute, initialLookbackMinutes: initialLookbackMinutes)
        quiet = Set(checkpoint.states.keys)
    }

    mutating func add(_ history: GroupHistory) {
        quiet.remove(history.group)
        let state = checkpoint.states[history.group] ?? AlertState(asOf: base)
        guard let begin = begin(state, history) else {
            // What was emitted until then is not emitted again, and what ended may go on.
            var kept = state
            kept.asOf = max(state.asOf ?? base, last - recompute)
            if state.hasEndedAlerts || kept.asOf != last - recompute { plan.states[history.group] = kept }
            return
        }
        let fold = RuleEvaluation.fold(rule, history, from: begin, through: last)
        let newest = fold.transitions.last?.minute
        let settled = min(last, [newest, last - recompute, state.asOf].compactMap { $0 }.max() ?? last)
        var kept = AlertState(asOf: settled)
        if newest != nil || state.open != nil || state.hasEndedAlerts {
            kept = RuleEvaluation.fold(rule, history, from: begin, through: settled).state
        }
        // A group that does not fire as of the moment from which groups without a state are folded needs none.
        if kept.open != nil || kept.hasEndedAlerts || fold.state.open != nil || settled != last - recompute && !history.total.isEmpty {
            plan.states[history.group] = kept
        }
        if let open = fold.state.open {
            plan.open[history.group] = open
            plan.series[history.group] = history.total
        }
        plan.transitions += checkpoint.asOf == nil ? RuleAdoption.announced(fold) : fold.transitions
    }

    /// From where the minutes can change anything; nil when none of them can.
    private func begin(_ state: AlertState, _ history: GroupHistory) -> AlertState? {
        let least = rule.condition.leastBad
        // What follows the end of an alert decides whether it is opened again.
        guard state.open == nil, state.closed == nil, least > 0 else { return state }
        guard history.total.counts.bad >= least, let bad = history.total.firstBad else { return nil }
        return AlertState(asOf: state.asOf.map { max($0, min(bad - 1, last)) })
    }

    /// With the groups that have a state and no minutes: they keep firing.
    func finished() -> EvaluationPlan {
        var all = self
        for group in quiet { all.add(GroupHistory(group: group, strata: [])) }
        all.plan.transitions.sort { ($0.minute, $0.group) < ($1.minute, $1.group) }
        return all.plan
    }
}
