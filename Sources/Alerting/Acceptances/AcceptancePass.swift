import AlertRules
import Postgres
import PushContract

/// Applies the acceptances since the last evaluation: computes the level of each, its group, and the minute from which it is in force.
///
/// The level is stored with its minute, so that a later fold of the same minutes, a backtest too, decides by the same numbers.
struct AcceptancePass {
    /// One acceptance with its level.
    struct AppliedAcceptance {
        var accepted: AcceptanceRecord
        var level: AcceptedShares
        var from: Minute

        var acceptance: BaselineAcceptance { BaselineAcceptance(from: from, shares: level.shares) }
    }

    let rule: AlertRule
    let pool: PostgresPool
    /// The newest minute of the evaluation: the first that the acceptances apply to.
    let last: Minute

    /// Those whose level can be computed. The others wait for attempts.
    func run(_ waiting: [AcceptanceRecord]) async throws -> [AppliedAcceptance] {
        var taken: [AppliedAcceptance] = []
        for accepted in waiting {
            guard let alert = try await AlertStore.alert(accepted.alertId, on: pool), alert.group == accepted.group else {
                continue
            }
            let shares = try await level(of: alert)
            guard !shares.isEmpty else { continue }
            taken.append(
                AppliedAcceptance(accepted: accepted, level: AcceptedShares(reasons: rule.condition.reasons, shares: shares), from: last)
            )
        }
        return taken
    }

    /// The present, while it fires and has enough attempts; else the worst window.
    private func level(of alert: Alert) async throws -> [FrozenShare] {
        let start = Minute(alert.startsAt)
        if alert.state == .firing, let history = try await history(of: alert.group, at: last) {
            let present = RuleEvaluation.level(rule, history, since: start, through: last)
            if !present.isEmpty { return present }
        }
        let worst = alert.evidence.worst
        guard let history = try await history(of: alert.group, at: worst.last) else { return [] }
        let since = max(worst.first, min(start, worst.last))
        return RuleEvaluation.level(rule, history, since: since, through: worst.last, isWorst: true)
    }

    private func history(of group: GroupKey, at minute: Minute) async throws -> GroupHistory? {
        try await RuleHistory.read(rule, after: minute - 1, through: minute, baseline: BaselineStore(keepsDays: false), on: pool)
            .first { $0.group == group }
    }
}
