import AlertRules
package import Alerting
import Attempts
import Foundation
package import Postgres
import PushContract

/// Reads what an alert's page shows.
package struct AlertStore: Sendable {
    private let pool: PostgresPool
    private let rules: RuleBook
    private let runbooks: RunbookShelf

    package init(pool: PostgresPool, rules: RuleBook, runbooks: RunbookShelf) {
        self.pool = pool
        self.rules = rules
        self.runbooks = runbooks
    }

    /// Nil when there is no such episode.
    func read(_ id: UUID, now: Timestamp) async throws -> AlertData? {
        guard let episode = try await EpisodeStore.episode(id, on: pool) else { return nil }
        return AlertData(
            episode: episode,
            series: try await series(of: episode, now: now),
            lanes: try await DeliveryStore.lanes(of: id, on: pool),
            deliveries: try await DeliveryStore.deliveries(of: id, limit: 50, on: pool),
            people: try await people(of: episode),
            acceptance: try await AcceptanceStore.current(of: id, on: pool),
            concernsCredentials: rules[episode.rule]?.condition.reasons.contains("auth") ?? episode.rule.contains("Auth"),
            runbook: runbook(of: episode)
        )
    }

    /// Nil when the rule is in no file any more: what it counted is not known then.
    private func series(of episode: AlertEpisode, now: Timestamp) async throws -> AlertSeries? {
        guard let rule = rules[episode.rule] else { return nil }
        let (from, minutes) = AlertSeries.span(of: episode, now: now)
        let counts = try await RollupStore.minutes(
            AlertSeries.selection(rule, group: episode.group),
            by: [],
            from: from,
            to: from + .seconds(minutes * 60),
            on: pool
        )
        return AlertSeries(from: from, minutes: minutes, counts: counts)
    }

    private func people(of episode: AlertEpisode) async throws -> [AffectedPerson] {
        guard let rule = rules[episode.rule] else { return [] }
        return try await AffectedPerson.some(rule, group: episode.group, window: episode.evidence.observed, on: pool)
    }

    private func runbook(of episode: AlertEpisode) -> String? {
        episode.annotations["runbook"].flatMap(RunbookShelf.name).flatMap(runbooks.text)
    }
}
