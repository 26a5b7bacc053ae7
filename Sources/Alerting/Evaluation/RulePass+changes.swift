import AlertRules
import Postgres
import PushContract

extension RulePass {
    /// What a plan and late attempts mean for the stored alerts of the rule, with all that alerts state when they begin.
    func changes(
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
        let beginnings = AlertBeginnings(pass: self, silences: silences, causes: causes)
        return try await beginnings.completed(changes.changes)
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
}
