import AlertRules
import Foundation
import Postgres
import PushContract

/// The alerts that may suppress those of a rule: firing ones, and those that ended since the oldest of them began.
///
/// No page is lost by this: an alert suppresses another one only at receivers that were notified of it, or of its own cause; not where a
/// silence, a route or a rejection prevented that.
struct SuppressionCandidates {
    private static let most = 200

    /// Why an alert is suppressed.
    struct SuppressionMatch {
        var suppressedBy: SuppressingAlert
        /// Receivers of a page that were not notified of the cause, and therefore are of this alert.
        var unnotified: [String]
    }

    struct Cause {
        var span: Suppression.Span
        var suppressedBy: SuppressingAlert
        /// Receivers that took the message that it fires, or will as soon as they can.
        var notified: Set<String>
    }

    private var causes: [Cause] = []

    init(_ causes: [Cause] = []) { self.causes = causes }

    static func read(_ rule: AlertRule, since: Timestamp, on session: any PostgresSession) async throws -> SuppressionCandidates {
        guard !rule.suppressedBy.isEmpty else { return SuppressionCandidates() }
        var result = SuppressionCandidates()
        result.causes = try await session.query(
            """
            WITH RECURSIVE cause AS (
                SELECT alertId, rule, groupLabels, startsAt, firedAt, resolvedAt, severity FROM alerts
                WHERE rule = ANY(\(rule.suppressedBy)) AND (state = 'firing' OR resolvedAt >= \(since))
                ORDER BY firedAt, alertId LIMIT \(most)
            ),
            -- Receivers notified of the cause of a cause know of it too.
            explained (causeId, alertId) AS (
                SELECT alertId, alertId FROM cause
                UNION
                SELECT x.causeId, (e.suppressedBy->>'alertId')::uuid
                FROM explained x JOIN alerts e USING (alertId) WHERE e.suppressedBy IS NOT NULL
            )
            SELECT alertId, rule, groupLabels, startsAt, firedAt, resolvedAt, severity, ARRAY(
                SELECT DISTINCT o.receiver
                FROM explained x JOIN notifications o ON o.alertId = x.alertId JOIN alerts e ON e.alertId = x.alertId
                WHERE x.causeId = cause.alertId AND o.kind IN ('firing', 'reopened')
                  -- What waits under a silence is sent to no receiver.
                  AND (o.state = 'delivered' OR o.state = 'pending' AND e.silencedBy IS NULL)
            )
            FROM cause ORDER BY firedAt, alertId
            """
        ).map(Cause.init(row:))
        return result
    }

    /// What suppresses an alert when `minute` closes; nil when all its receivers are to be notified.
    ///
    /// A page is suppressed at the receivers that were notified of the cause. Other alerts are suppressed as soon as any receiver was
    /// notified: tickets often have other receivers than pages, and nobody needs a ticket about a page that was sent.
    func suppression(of alert: Alert, lastSet: Minute, at minute: Minute, receivers: [String]) -> SuppressionMatch? {
        let consequence = Suppression.Span(
            rule: alert.rule,
            group: alert.group,
            startsAt: Minute(alert.startsAt),
            firedAt: Minute(alert.firedAt),
            severity: alert.severity
        )
        return suppression(of: consequence, lastSet: lastSet, at: minute, receivers: receivers)
    }

    func suppression(of consequence: Suppression.Span, lastSet: Minute, at minute: Minute, receivers: [String]) -> SuppressionMatch? {
        for cause in causes where Suppression.suppresses(cause.span, consequence, lastSet: lastSet, at: minute) {
            let unnotified = receivers.filter { !cause.notified.contains($0) }
            let isExplained = consequence.severity.pages ? unnotified.count < receivers.count : !cause.notified.isEmpty
            if isExplained || receivers.isEmpty {
                return SuppressionMatch(suppressedBy: cause.suppressedBy, unnotified: consequence.severity.pages ? unnotified : [])
            }
        }
        return nil
    }
}

extension SuppressionCandidates.Cause {
    fileprivate init(row: Row) throws {
        let (id, rule, labels, startsAt, firedAt, resolvedAt, severity, notified) = try row.decode(
            (UUID, String, String, Timestamp, Timestamp, Timestamp?, String, [String]).self
        )
        let group = try GroupKey(labels: labels)
        span = Suppression.Span(
            rule: rule,
            group: group,
            startsAt: Minute(startsAt),
            firedAt: Minute(firedAt),
            resolvedAt: resolvedAt.map { Minute($0) },
            severity: Severity(rawValue: severity) ?? .page
        )
        suppressedBy = SuppressingAlert(alertId: id, rule: rule, group: group.description)
        self.notified = Set(notified)
    }
}
