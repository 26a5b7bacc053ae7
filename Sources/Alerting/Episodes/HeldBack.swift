package import AlertRules
package import Foundation
import Postgres
import PushContract

/// The alert that explains another one, of which therefore nobody is told.
package struct HeldBack: Sendable, Hashable, Codable {
    package var alertId: UUID
    package var rule: String
    /// `provider=apns`, or `all`.
    package var group: String

    package init(alertId: UUID, rule: String, group: String) {
        self.alertId = alertId
        self.rule = rule
        self.group = group
    }

    /// `PushAuthFailing · provider=apns`
    package var name: String { group == GroupKey().description ? rule : "\(rule) · \(group)" }
}

/// The alerts that may hold back those of a rule: what fires, and what ended since the oldest of them began.
struct PossibleCauses {
    private static let most = 200

    private var causes: [(span: Suppression.Span, heldBack: HeldBack)] = []

    init() {}

    static func read(_ rule: AlertRule, since: Timestamp, on session: any PostgresSession) async throws -> PossibleCauses {
        guard !rule.suppressedBy.isEmpty else { return PossibleCauses() }
        var result = PossibleCauses()
        result.causes = try await session.query(
            """
            SELECT episodeId, rule, groupLabels, startsAt, firedAt, resolvedAt FROM alertEpisodes
            WHERE rule = ANY(\(rule.suppressedBy)) AND (state = 'firing' OR resolvedAt >= \(since))
            ORDER BY firedAt, episodeId LIMIT \(most)
            """
        ).map { row in
            let (id, rule, labels, startsAt, firedAt, resolvedAt) = try row.decode(
                UUID.self,
                String.self,
                String.self,
                Timestamp.self,
                Timestamp.self,
                Timestamp?.self
            )
            let group = try GroupKey(labels: labels)
            let span = Suppression.Span(
                rule: rule,
                group: group,
                startsAt: Minute(startsAt),
                firedAt: Minute(firedAt),
                resolvedAt: resolvedAt.map { Minute($0) }
            )
            return (span, HeldBack(alertId: id, rule: rule, group: group.description))
        }
        return result
    }

    /// What holds an alert back when `minute` closes; nil when it is to be told.
    func holder(of episode: AlertEpisode, lastSet: Minute, at minute: Minute) -> HeldBack? {
        let consequence = Suppression.Span(
            rule: episode.rule,
            group: episode.group,
            startsAt: Minute(episode.startsAt),
            firedAt: Minute(episode.firedAt)
        )
        return causes.first { Suppression.holds($0.span, consequence, lastSet: lastSet, at: minute) }?.heldBack
    }
}
