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
    let backlog: BacklogReading?
    let logger: Logger
    let now: Timestamp

    /// Evaluates every closed minute up to `last` that was not evaluated before. Returns what began and ended.
    func run(through newest: Minute) async throws -> [EpisodeChange] {
        let waiting = rule.condition.level == .reference ? try await AcceptanceStore.waiting(rule, on: pool) : []
        // Who calls an alert normal is not kept waiting for the next decision.
        let last = waiting.isEmpty ? newestDecided(newest) : newest
        let checkpoint = try await RuleCheckpoint.read(rule, on: pool)
        if let asOf = checkpoint.asOf, asOf >= last { return [] }
        let base = EvaluationPlan.base(
            checkpoint,
            last: last,
            recompute: configuration.recomputeMinutes,
            scratchMinutes: scratchMinutes
        )
        let oldest = checkpoint.states.values.compactMap(\.asOf).min() ?? base
        let taken = try await AcceptancePass(rule: rule, pool: pool, last: last).run(waiting)
        let histories = try await RuleHistory.read(rule, after: min(base, oldest), through: last, baseline: baseline, on: pool)
            .map { history in
                var history = history
                history.acceptances += taken.filter { $0.accepted.group == history.group }.map(\.acceptance)
                return history
            }
        let plan = EvaluationPlan.make(
            rule,
            histories,
            checkpoint,
            last: last,
            recompute: configuration.recomputeMinutes,
            scratchMinutes: scratchMinutes
        )
        let changes = try await changes(plan, checkpoint, histories, taken, last: last)
        try await commit(plan, changes, taken, last: last)
        return changes
    }

    /// A rule that is in no file any more: its alerts are over.
    func forget(_ name: String, through last: Minute) async throws {
        var changes = EpisodeChanges(rule: rule, open: try await EpisodeStore.open(rule: name, on: pool), last: last, now: now, lag: .zero)
        changes.resolveUnconfirmed([])
        let resolutions = changes.changes
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            try await write(resolutions, in: transaction)
            try await RuleCheckpoint.forget(name, in: transaction)
        }
    }

    private var scratchMinutes: Int { configuration.scratchMinutes(rule) }

    /// Some rules decide every few minutes only.
    private func newestDecided(_ last: Minute) -> Minute {
        let every = Int64(rule.condition.decidesEvery)
        return Minute((last.index + 1) / every * every - 1)
    }

    private func changes(
        _ plan: EvaluationPlan,
        _ checkpoint: RuleCheckpoint,
        _ histories: [GroupHistory],
        _ taken: [AcceptancePass.Taken],
        last: Minute
    ) async throws -> [EpisodeChange] {
        let open = try await EpisodeStore.open(rule: rule.name, on: pool)
        var changes = EpisodeChanges(rule: rule, open: open, last: last, now: now, lag: configuration.lag)
        for one in taken { changes.accepted[one.accepted.group] = one.accepted.summary }
        if checkpoint.asOf == nil { changes.resolveUnconfirmed(Set(plan.open.keys)) }
        for transition in plan.transitions {
            changes.apply(transition, frozen: plan.open[transition.group]?.frozenShares ?? [])
        }
        let oldest = (open.map(\.startsAt) + plan.transitions.map(\.startsAt.timestamp)).min() ?? now
        let causes = try await PossibleCauses.read(rule, since: oldest, on: pool)
        let silences = try await SilenceStore.current(at: now, on: pool).filter { $0.isActive(at: now) }
        let series = Dictionary(histories.map { ($0.group, $0.total) }, uniquingKeysWith: { first, _ in first })
        for (group, episode) in plan.open {
            changes.refresh(group) {
                refresh(&$0, episode, series[group], last: last)
                let labels = $0.labels
                $0.silencedBy = silences.first { $0.matches(labels) }?.id
                // Who was told once is not told that it is explained.
                if $0.heldBack != nil {
                    $0.heldBack = causes.holder(of: $0, lastSet: episode.lastSet, at: last, receivers: receivers.names(for: $0))?.heldBack
                }
            }
        }
        var result: [EpisodeChange] = []
        for change in changes.changes { result.append(try await enriched(change, silences, causes)) }
        return result
    }

    /// The newest numbers of an alert that goes on.
    private func refresh(_ episode: inout AlertEpisode, _ open: OpenEpisode, _ series: MinuteSeries?, last: Minute) {
        episode.ruleVersion = rule.version
        episode.evidence.worst = open.evidence.worst
        episode.evidence.worstExpected = open.evidence.worstExpected
        episode.evidence.held = open.evidence.held
        let fired = episode.evidence.observed
        if let series, last - fired.last <= configuration.recomputeMinutes,
            series.window(endingAt: fired.last, minutes: fired.minutes) != fired.counts
        {
            episode.revised = true
        }
        // Nothing is tried while a credential is refused: that is the alert, not a lack of traffic.
        if open.evidence.held != nil, open.lastSet == last {
            episode.heldSince = nil
        } else if let traffic = series?.lastAttempt(through: last) {
            episode.heldSince = last - traffic >= configuration.heldAfterMinutes ? (traffic + 1).timestamp : nil
        } else {
            episode.heldSince = episode.heldSince ?? (last - configuration.heldAfterMinutes).timestamp
        }
    }

    /// Adds who is affected, what waits, what explains it and who is told to an alert that begins.
    private func enriched(_ change: EpisodeChange, _ silences: [AlertSilence], _ causes: PossibleCauses) async throws -> EpisodeChange {
        guard case .fire(var episode, let transition, _) = change else { return change }
        if rule.condition.source == .attempts {
            let affected = try await Impact.read(
                rule,
                group: transition.group,
                window: transition.evidence.observed,
                logger: logger,
                on: pool
            )
            episode.contributors = affected.contributors
            episode.affected = affected.devices
        }
        episode.backlog = try await backlog?(now)
        episode.silencedBy = silences.first { $0.matches(episode.labels) }?.id
        let names = receivers.names(for: episode)
        let holder = causes.holder(of: episode, lastSet: transition.minute, at: transition.minute, receivers: names)
        episode.heldBack = holder?.heldBack
        return .fire(episode, transition, receivers: holder?.untold ?? names)
    }

    private func commit(_ plan: EvaluationPlan, _ changes: [EpisodeChange], _ taken: [AcceptancePass.Taken], last: Minute) async throws {
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            try await write(changes, in: transaction)
            for one in taken { try await AcceptanceStore.takeUp(one.accepted.id, one.level, from: one.from, in: transaction) }
            try await RuleCheckpoint.write(rule, states: plan.states, asOf: last, at: now, in: transaction)
        }
    }

    private func write(_ changes: [EpisodeChange], in transaction: any PostgresSession) async throws {
        let writer = EpisodeWriter(transaction: transaction, lease: lease, now: now)
        for change in changes {
            switch change {
            case .fire(let episode, let transition, let names):
                try await writer.fire(episode, reason: transition.reason, minute: transition.minute, receivers: names)
            case .resolve(let episode, let minute): try await writer.resolve(episode, minute: minute)
            case .update(let episode, let isDue):
                try await writer.update(episode)
                if isDue { try await writer.enqueue(episode.id, receivers: receivers.names(for: episode)) }
            }
        }
    }
}
