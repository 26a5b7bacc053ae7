import AlertRules
import Logging
import Postgres
import PushContract

/// One evaluation of one rule: read, decide, write. Everything it changes, it changes in one transaction.
struct RulePass {
    let rule: AlertRule
    let pool: PostgresPool
    let lease: AlertLease
    let configuration: EvaluatorConfiguration
    let baseline: BaselineStore
    let receivers: ReceiverSet
    let metrics: EvaluatorMetrics
    let backlog: BacklogSource?
    let logger: Logger
    let now: Timestamp
    /// The oldest minute of which late attempts are to be evaluated.
    var lateSince: Minute?
    /// Why it cannot be evaluated now: minutes without its series would count as good ones.
    var seriesFault: SeriesFault?

    /// Evaluates every closed minute up to `newest` that was not evaluated before. Returns what began and ended.
    func run(through newest: Minute) async throws -> [AlertChange] {
        do {
            if let seriesFault { throw seriesFault }
            return try await evaluate(through: newest)
        } catch {
            // Silences apply to the alerts of a rule that cannot be evaluated, too.
            try? await applySilences()
            throw error
        }
    }

    private func evaluate(through newest: Minute) async throws -> [AlertChange] {
        let waiting = rule.condition.level == .reference ? try await AcceptanceStore.waiting(rule, on: pool) : []
        // An acceptance is applied at once, not at the next minute in which the rule decides.
        let last = waiting.isEmpty ? newestDecided(newest) : newest
        let current = try await RuleCheckpoint.read(rule, on: pool)
        var checkpoint = current
        var again: Minute?
        if let asOf = checkpoint.asOf, let lateSince, asOf >= lateSince, rule.condition.source == .attempts {
            checkpoint = try await RuleSnapshot.read(rule, before: lateSince, on: pool) ?? beginning(last: last)
            again = lateSince
        } else if let asOf = checkpoint.asOf, asOf >= last {
            try await applySilences()
            return []
        }
        let base = EvaluationPlan.base(
            checkpoint,
            last: last,
            recompute: configuration.recomputeMinutes,
            initialLookbackMinutes: initialLookbackMinutes
        )
        let oldest = checkpoint.states.values.compactMap(\.asOf).min() ?? base
        let taken = try await AcceptancePass(rule: rule, pool: pool, last: last).run(waiting)
        let from = min(base, oldest)
        let states = Array(checkpoint.states) + Array(current.states)
        let scope = try await RuleScope.read(
            rule,
            remembered: states.filter { $0.value.open != nil || $0.value.closed != nil }.map(\.key),
            limit: configuration.maxApps,
            from: from - (rule.lookback + 1),
            through: last,
            on: pool
        )
        metrics.folded(scope.folded, rule: rule.name)
        var planning = planning(checkpoint, last: last)
        // Without the late attempts of minutes that were evaluated.
        var unchanged = again == nil ? nil : self.planning(current, last: last)
        var before = again.flatMap { needsSnapshot(before: $0, checkpoint) ? self.planning(checkpoint, last: $0 - 1) : nil }
        try await RuleHistory.each(rule, scope, after: from, through: last, baseline: baseline, on: pool) { history in
            var history = history
            history.acceptances += taken.filter { $0.accepted.group == history.group }.map(\.acceptance)
            planning.add(history)
            unchanged?.add(history)
            before?.add(history)
        }
        var plan = planning.finished()
        var late: LateReconciliation?
        if let again, let unchanged {
            late = try await reconcile(&plan, with: unchanged.finished(), from: checkpoint.asOf, lateSince: again)
        }
        let changes = try await changes(plan, checkpoint, taken, late, last: last)
        try await commit(plan, changes, taken, last: last, evaluatedAgainSince: again, statesBefore: before?.finished().states)
        return changes
    }

    /// Where attempts come late all the time, each pass removes what the one before it has written; what is from before them stays.
    private func needsSnapshot(before late: Minute, _ checkpoint: RuleCheckpoint) -> Bool {
        checkpoint.asOf.map { late - $0 > 60 } ?? false
    }

    /// Silences begin and end at once, not at the next minute in which the rule decides.
    private func applySilences() async throws {
        let open = try await AlertStore.open(rule: rule.name, on: pool)
        guard !open.isEmpty else { return }
        let silences = try await SilenceStore.current(at: now, on: pool).filter { $0.isActive(at: now) }
        let changes = open.compactMap { $0.silenced(by: silences) }
        guard !changes.isEmpty else { return }
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            try await write(changes.map { .update($0.alert, isDue: $0.isDue) }, in: transaction)
        }
    }

    /// A rule that is in no file any more: its alerts are over.
    func forget(_ name: String, through last: Minute) async throws {
        var changes = AlertChanges(rule: rule, open: try await AlertStore.open(rule: name, on: pool), last: last, now: now, lag: .zero)
        changes.resolveUnconfirmed([])
        let resolutions = changes.changes
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            try await write(resolutions, in: transaction)
            try await RuleCheckpoint.forget(name, in: transaction)
        }
    }

    /// Where a backtest begins.
    private func beginning(last: Minute) -> RuleCheckpoint {
        RuleCheckpoint(asOf: last - initialLookbackMinutes, replacesVersion: false, states: [:])
    }

    private func planning(_ checkpoint: RuleCheckpoint, last: Minute) -> EvaluationPlanning {
        EvaluationPlanning(
            rule,
            checkpoint,
            last: last,
            recompute: configuration.recomputeMinutes,
            initialLookbackMinutes: initialLookbackMinutes
        )
    }

    /// Reduces a second evaluation to what follows the recorded alerts. Groups that keep their state are planned as in `unchanged`.
    private func reconcile(
        _ plan: inout EvaluationPlan,
        with unchanged: EvaluationPlan,
        from: Minute?,
        lateSince: Minute
    ) async throws -> LateReconciliation {
        // No alert is opened again after more than a day.
        let first = from.map { ($0 - 1440).timestamp } ?? now
        let recorded = try await RecordedFiring.read(rule: rule.name, since: first, on: pool)
        let late = LateReconciliation(rule, plan.transitions, open: plan.open, recorded: recorded, since: lateSince)
        plan.transitions = late.transitions
        plan.replace(late.kept, by: unchanged)
        return late
    }

    private var initialLookbackMinutes: Int { configuration.initialLookbackMinutes(rule) }

    /// Some rules decide every few minutes only.
    private func newestDecided(_ last: Minute) -> Minute {
        let every = Int64(rule.condition.decidesEvery)
        return Minute((last.index + 1) / every * every - 1)
    }

    private func commit(
        _ plan: EvaluationPlan,
        _ changes: [AlertChange],
        _ taken: [AcceptancePass.AppliedAcceptance],
        last: Minute,
        evaluatedAgainSince again: Minute?,
        statesBefore: [GroupKey: AlertState]?
    ) async throws {
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            try await write(changes, in: transaction)
            for one in taken { try await AcceptanceStore.apply(one.accepted.id, one.level, from: one.from, in: transaction) }
            try await RuleCheckpoint.write(rule, states: plan.states, asOf: last, at: now, in: transaction)
            guard rule.condition.source == .attempts else { return }
            if let again {
                try await RuleSnapshot.forget(rule, since: again, in: transaction)
                if let statesBefore { try await RuleSnapshot.write(rule, states: statesBefore, asOf: again - 1, in: transaction) }
            }
            try await RuleSnapshot.write(rule, states: plan.states, asOf: last, in: transaction)
        }
    }

    private func write(_ changes: [AlertChange], in transaction: any PostgresSession) async throws {
        let writer = AlertWriter(transaction: transaction, lease: lease, now: now)
        try await writer.update(changes.compactMap { change in if case .update(let alert, _) = change { alert } else { nil } })
        for change in changes {
            switch change {
            case .fire(let alert, let transition, let names):
                try await writer.fire(alert, reason: transition.reason, minute: transition.minute, receivers: names)
            case .resolve(let alert, let minute): try await writer.resolve(alert, minute: minute)
            case .reopen(let alert, let minute, let names): try await writer.reopen(alert, minute: minute, receivers: names)
            case .update(let alert, let isDue):
                if isDue { try await writer.enqueueMuted(alert.id, receivers: receivers.names(for: alert)) }
            }
        }
    }
}
