import AlertRules
import Foundation
import Postgres
import PushContract

/// The alerts that may hold back those of a rule: what fires, and what ended since the oldest of them began.
///
/// Nobody misses a page by this: an alert explains another one only to receivers that were told of it, or of what explains it in turn. What a silence,
/// a route or a receiver's refusal kept from somebody explains nothing to them.
struct PossibleCauses {
    private static let most = 200

    /// What holds an alert back.
    struct Holder {
        var heldBack: HeldBack
        /// Receivers of a page that were not told of the cause, and therefore are of this.
        var untold: [String]
    }

    fileprivate struct Cause {
        var span: Suppression.Span
        var heldBack: HeldBack
        /// Receivers that took the message that it fires, or will as soon as they can.
        var told: Set<String>
    }

    private var causes: [Cause] = []

    init() {}

    static func read(_ rule: AlertRule, since: Timestamp, on session: any PostgresSession) async throws -> PossibleCauses {
        guard !rule.suppressedBy.isEmpty else { return PossibleCauses() }
        var result = PossibleCauses()
        result.causes = try await session.query(
            """
            WITH RECURSIVE cause AS (
                SELECT episodeId, rule, groupLabels, startsAt, firedAt, resolvedAt, severity FROM alertEpisodes
                WHERE rule = ANY(\(rule.suppressedBy)) AND (state = 'firing' OR resolvedAt >= \(since))
                ORDER BY firedAt, episodeId LIMIT \(most)
            ),
            -- Who was told of what explains a cause knows of it too.
            explained (causeId, episodeId) AS (
                SELECT episodeId, episodeId FROM cause
                UNION
                SELECT x.causeId, (e.heldBack->>'alertId')::uuid FROM explained x JOIN alertEpisodes e USING (episodeId) WHERE e.heldBack IS NOT NULL
            )
            SELECT episodeId, rule, groupLabels, startsAt, firedAt, resolvedAt, severity, ARRAY(
                SELECT DISTINCT o.receiver
                FROM explained x JOIN alertOutbox o ON o.episodeId = x.episodeId JOIN alertEpisodes e ON e.episodeId = x.episodeId
                WHERE x.causeId = cause.episodeId AND o.kind = 'firing'
                  -- What waits under a silence is told to nobody.
                  AND (o.state = 'delivered' OR o.state = 'pending' AND e.silencedBy IS NULL)
            )
            FROM cause ORDER BY firedAt, episodeId
            """
        ).map(Cause.init(row:))
        return result
    }

    /// What holds an alert back when `minute` closes; nil when all its receivers are to be told.
    ///
    /// A page is kept from the receivers that were told of the cause. What pages nobody is held back as soon as anybody was: tickets often go
    /// elsewhere than pages, and those who have the page need no ticket about it.
    func holder(of episode: AlertEpisode, lastSet: Minute, at minute: Minute, receivers: [String]) -> Holder? {
        let consequence = Suppression.Span(
            rule: episode.rule,
            group: episode.group,
            startsAt: Minute(episode.startsAt),
            firedAt: Minute(episode.firedAt),
            severity: episode.severity
        )
        for cause in causes where Suppression.holds(cause.span, consequence, lastSet: lastSet, at: minute) {
            let untold = receivers.filter { !cause.told.contains($0) }
            let isExplained = episode.severity.pages ? untold.count < receivers.count : !cause.told.isEmpty
            if isExplained || receivers.isEmpty {
                return Holder(heldBack: cause.heldBack, untold: episode.severity.pages ? untold : [])
            }
        }
        return nil
    }
}

extension PossibleCauses.Cause {
    fileprivate init(row: Row) throws {
        let (id, rule, labels, startsAt, firedAt, resolvedAt, severity, told) = try row.decode((UUID, String, String, Timestamp, Timestamp, Timestamp?, String, [String]).self)
        let group = try GroupKey(labels: labels)
        span = Suppression.Span(
            rule: rule,
            group: group,
            startsAt: Minute(startsAt),
            firedAt: Minute(firedAt),
            resolvedAt: resolvedAt.map { Minute($0) },
            severity: Severity(rawValue: severity) ?? .page
        )
        heldBack = HeldBack(alertId: id, rule: rule, group: group.description)
        self.told = Set(told)
    }
}
