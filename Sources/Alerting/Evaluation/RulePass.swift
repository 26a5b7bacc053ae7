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
    /// The oldest minute of which attempts were reported late since the last look.
    var lateSince: Minute?
    /// Why it cannot be evaluated now: without its series, minutes look as if nothing were wrong in them.
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
        // Who calls an alert normal is not kept waiting for the next decision.
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
        try await RuleHistory.each(rule, scope, after: from, through: last, baseline: baseline, on: pool) { history in
            var history = history
            history.acceptances += taken.filter { $0.accepted.group == history.group }.map(\.acceptance)
            planning.add(history)
            unchanged?.add(history)
        }
        var plan = planning.finished()
        var late: LateReconciliation?
        if let again, let unchanged {
            late = try await reconcile(&plan, with: unchanged.finished(), from: checkpoint.asOf, lateSince: again)
        }
        let changes = try await changes(plan, checkpoint, taken, late, last: last)
        try await commit(plan, changes, taken, last: last, evaluatedAgainSince: again)
        return changes
    }

    /// Who silences an alert is not kept waiting for the next decision, nor are receivers when a silence ends.
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

    /// Leaves of a second evaluation what follows what is recorded. Of groups that keep their state, it leaves what `unchanged` says.
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

    private func changes(
        _ plan: EvaluationPlan,
        _ checkpoint: RuleCheckpoint,
        _ taken: [AcceptancePass.AppliedAcceptance],
        _ late: LateReconciliation?,
        last: Minute
    ) async throws -> [AlertChange] {
        let open = try await AlertStore.open(rule: rule.name, on: pool)
        let reopened = plan.transitions.filter { $0.kind == .reopened }.map(\.group)
        let closed = reopened.isEmpty ? [] : try await AlertStore.newestResolved(rule: rule.name, groups: reopened, on: pool)
        var changes = AlertChanges(rule: rule, open: open, closed: closed, last: last, now: now, lag: configuration.lag)
        for one in taken { changes.accepted[one.accepted.group] = one.accepted.summary }
        if checkpoint.asOf == nil { changes.resolveUnconfirmed(Set(plan.open.keys)) }
        if let contradicted = late?.contradicted, !contradicted.isEmpty {
            changes.resolveUnconfirmed(Set(open.map(\.group)).subtracting(contradicted), reason: .lateAttempts)
        }
        for transition in plan.transitions {
            let isOver = plan.transitions.last { $0.group == transition.group && $0.firedAt == transition.firedAt }?.kind == .resolved
            changes.apply(transition, frozen: plan.open[transition.group]?.frozenShares ?? [], isOver: isOver)
        }
        let incidents = late?.incidents ?? []
        incidents.forEach { changes.record($0) }
        let recorded = plan.transitions + incidents.map(\.begin)
        let oldest = (open.map(\.startsAt) + recorded.map(\.startsAt.timestamp)).min() ?? now
        let causes = try await SuppressionCandidates.read(rule, since: oldest, on: pool)
        let silences = try await SilenceStore.current(at: now, on: pool).filter { $0.isActive(at: now) }
        for (group, alert) in plan.open {
            changes.refresh(group) {
                refresh(&$0, alert, plan.series[group], last: last)
                let labels = $0.labels
                $0.silencedBy = silences.first { $0.matches(labels) }?.id
                // Receivers that were notified are not notified that it is explained.
                if $0.suppressedBy != nil {
                    $0.suppressedBy =
                        causes.suppression(of: $0, lastSet: alert.lastSet, at: last, receivers: receivers.names(for: $0))?.suppressedBy
                }
            }
        }
        return try await enriched(changes.changes, silences, causes)
    }

    /// The newest numbers of an alert that goes on.
    private func refresh(_ alert: inout Alert, _ open: FiringAlert, _ series: MinuteSeries?, last: Minute) {
        alert.ruleVersion = rule.version
        alert.evidence.worst = open.evidence.worst
        alert.evidence.worstExpected = open.evidence.worstExpected
        alert.evidence.openCircuits = open.evidence.openCircuits
        let fired = alert.evidence.observed
        if rule.condition.source == .attempts, let series, last - fired.last <= configuration.recomputeMinutes,
            series.window(endingAt: fired.last, minutes: fired.minutes) != fired.counts
        {
            alert.revised = true
        }
        // Nothing is tried while a credential is refused, or no traffic is the fault: that is the alert, not a lack of data.
        if open.lastSet == last, open.evidence.openCircuits != nil || open.evidence.level == .trafficDrop {
            alert.noDataSince = nil
        } else if let traffic = series?.lastAttempt(through: last) {
            alert.noDataSince = last - traffic >= configuration.noDataAfterMinutes ? (traffic + 1).timestamp : nil
        } else {
            alert.noDataSince = alert.noDataSince ?? (last - configuration.noDataAfterMinutes).timestamp
        }
    }

    /// Adds impact, backlog, cause and receivers to the alerts that begin.
    private func enriched(
        _ changes: [AlertChange],
        _ silences: [AlertSilence],
        _ causes: SuppressionCandidates
    ) async throws -> [AlertChange] {
        let changes = changes.map { change in
            guard case .reopen(let alert, let minute, _) = change else { return change }
            let (muted, names) = muted(alert, at: minute, silences, causes)
            return .reopen(muted, minute: minute, receivers: names)
        }
        let fired = changes.compactMap { change in if case .fire(_, let transition, _) = change { transition } else { nil } }
        guard !fired.isEmpty else { return changes }
        let impacts = try await impacts(fired)
        let backlog = try await optional("backlog") { try await self.backlog?(now) }
        return changes.map { change in
            guard case .fire(var alert, let transition, _) = change else { return change }
            if let impact = impacts[transition.group] {
                alert.contributors = impact.contributors
                alert.affected = impact.devices
            }
            alert.backlog = backlog
            let (muted, names) = muted(alert, at: transition.minute, silences, causes)
            return .fire(muted, transition, receivers: names)
        }
    }

    /// Who is affected by the largest of the alerts that begin. When many begin at once, no alert waits for the impact of all of them: that of the
    /// others is looked at when they are open.
    private func impacts(_ fired: [Transition]) async throws -> [GroupKey: Impact] {
        guard rule.condition.hasBadAttempts else { return [:] }
        let end = ContinuousClock.now + configuration.impactTime
        let largest = fired.sorted { $0.evidence.observed.counts.bad > $1.evidence.observed.counts.bad }
        var impacts: [GroupKey: Impact] = [:]
        for (index, transition) in largest.enumerated() where impacts[transition.group] == nil {
            guard index == 0 || ContinuousClock.now < end else { break }
            impacts[transition.group] = try await optional("impact") {
                try await Impact.read(
                    rule,
                    group: transition.group,
                    window: transition.evidence.observed,
                    time: configuration.sampleTime,
                    logger: logger,
                    on: pool
                )
            }
        }
        return impacts
    }

    /// What an alert can begin without: a query that exceeds its time, as of a large backlog, keeps no alert from firing.
    private func optional<Value: Sendable>(_ name: String, _ read: () async throws -> Value?) async throws -> Value? {
        do {
            return try await read()
        } catch let error where Self.isOptional(error) {
            logger.warning(
                "an alert begins without numbers that could not be read",
                metadata: ["rule": "\(rule.name)", "numbers": "\(name)", "error": "\(error)"]
            )
            return nil
        }
    }

    /// Without a connection nothing can be written. A call that exceeded its time is a slow query, unless the next one fails, too.
    private static func isOptional(_ error: any Error) -> Bool {
        if error is CancellationError || error is LeaseLost { return false }
        guard let error = error as? PostgresError else { return true }
        return !error.isConnectionLoss || error.code == .callTimeout
    }

    /// The alert with what mutes it, and the receivers to notify.
    private func muted(
        _ alert: Alert,
        at minute: Minute,
        _ silences: [AlertSilence],
        _ causes: SuppressionCandidates
    ) -> (Alert, receivers: [String]) {
        var alert = alert
        alert.silencedBy = silences.first { $0.matches(alert.labels) }?.id
        let names = receivers.names(for: alert)
        let suppression = causes.suppression(of: alert, lastSet: minute, at: minute, receivers: names)
        alert.suppressedBy = suppression?.suppressedBy
        return (alert, suppression?.unnotified ?? names)
    }

    private func commit(
        _ plan: EvaluationPlan,
        _ changes: [AlertChange],
        _ taken: [AcceptancePass.AppliedAcceptance],
        last: Minute,
        evaluatedAgainSince again: Minute?
    ) async throws {
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            try await write(changes, in: transaction)
            for one in taken { try await AcceptanceStore.apply(one.accepted.id, one.level, from: one.from, in: transaction) }
            try await RuleCheckpoint.write(rule, states: plan.states, asOf: last, at: now, in: transaction)
            guard rule.condition.source == .attempts else { return }
            try await RuleSnapshot.write(rule, states: plan.states, asOf: last, changedSince: again, in: transaction)
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
