import AlertRules
import Alerting
import Attempts
import Foundation
import Postgres
import PushContract

/// Reads what an alert's page shows.
struct AlertPageStore: Sendable {
    private let pool: PostgresPool
    private let rules: RuleRegistry
    private let receivers: ReceiverRegistry?
    private let runbooks: RunbookDirectory

    init(pool: PostgresPool, rules: RuleRegistry, receivers: ReceiverRegistry?, runbooks: RunbookDirectory) {
        self.pool = pool
        self.rules = rules
        self.receivers = receivers
        self.runbooks = runbooks
    }

    /// Nil when there is no such alert.
    func read(_ id: UUID, now: Timestamp) async throws -> AlertData? {
        guard let alert = try await AlertStore.alert(id, on: pool) else { return nil }
        return AlertData(
            alert: alert,
            series: try await series(of: alert, now: now),
            notifications: try await NotificationHistory.notifications(of: id, on: pool),
            notificationAttempts: try await NotificationHistory.notificationAttempts(of: id, limit: 50, on: pool),
            escalations: try await EscalationStore.history(of: id, on: pool),
            nextEscalation: try await nextEscalation(of: alert),
            people: try await people(of: alert),
            acceptance: try await AcceptanceStore.current(of: id, on: pool),
            silences: try await SilenceStore.current(at: now, on: pool),
            concernsCredentials: rules[alert.rule]?.condition.reasons.contains("auth") ?? alert.rule.contains("Auth"),
            runbook: runbook(of: alert)
        )
    }

    /// Nil when the rule is in no file any more, as it is not known then what it counted, and where its threshold is not about a share.
    private func series(of alert: Alert, now: Timestamp) async throws -> AlertSeries? {
        guard let rule = rules[alert.rule], alert.evidence.level.comparesShares else { return nil }
        let (from, minutes) = AlertSeries.span(of: alert, now: now)
        let counts = try await RollupStore.minutes(
            rule.selection(in: alert.group),
            by: [],
            from: from,
            to: from + .seconds(minutes * 60),
            on: pool
        )
        return AlertSeries(from: from, minutes: minutes, counts: counts)
    }

    private func nextEscalation(of alert: Alert) async throws -> (at: Timestamp, escalation: EscalationPolicy.Escalation)? {
        guard let receivers, alert.state == .firing else { return nil }
        return try await EscalationStore.nextStep(of: alert.id, receivers.set, on: pool)
    }

    private func people(of alert: Alert) async throws -> [AffectedPerson] {
        guard let rule = rules[alert.rule] else { return [] }
        return try await AffectedPerson.some(rule, group: alert.group, window: alert.evidence.observed, on: pool)
    }

    private func runbook(of alert: Alert) -> String? {
        alert.annotations["runbook"].flatMap(RunbookDirectory.name).flatMap(runbooks.text)
    }
}
