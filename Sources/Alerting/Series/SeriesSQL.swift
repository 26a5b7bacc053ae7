import AlertRules
import PushContract

/// Read-only statements, for psql, that return what a rule on another series than the rollups saw.
enum SeriesSQL {
    static func text(_ transition: Transition, rule: AlertRule) -> String {
        let window = transition.evidence.observed
        let group = transition.group
        let header = "-- \(transition.rule) (\(group)), version \(transition.ruleVersion).\n"
        func condition(_ dimension: Dimension, _ column: String) -> String {
            let values = group[dimension].map { [$0] } ?? rule.condition.of.allowed[dimension] ?? []
            return values.isEmpty ? "" : "\n  AND \(column) IN (\(values.map(ReproducingSQL.quoted).joined(separator: ", ")))"
        }
        let (from, to) = (window.first.timestamp.rfc3339, (window.last + 1).timestamp.rfc3339)
        switch rule.condition.source {
        case .backlog, .queueAge, .attempts:
            return header + """
                SELECT minute, sum(waiting)::bigint AS waiting, max(oldestSeconds) AS oldestSeconds
                FROM sendBacklogMinutes
                WHERE minute >= '\(from)' AND minute < '\(to)'\(condition(.provider, "provider"))
                GROUP BY minute ORDER BY minute;
                """
        case .codes:
            return header + """
                SELECT attemptedAt, app, environment, pushType, appVersion, reasonCode, providerErrorCode, providerMessageId, attemptId
                FROM notificationDeliveryAttempts
                WHERE reasonCode = 'unknown' AND attemptedAt >= '\(from)'\(condition(.provider, "provider::text"))\
                \(condition(.providerErrorCode, "providerErrorCode"))
                ORDER BY attemptedAt LIMIT 50;
                """
        case .reregistrations:
            let known = ReregistrationSeries.known
            let (first, last) = ((window.first - known).timestamp.rfc3339, (window.last + 1 - known).timestamp.rfc3339)
            return header + """
                SELECT hour, sum(devices)::bigint AS devices, sum(reregistered)::bigint AS reregistered
                FROM deviceReregistrationHours
                WHERE hour >= '\(first)' AND hour < '\(last)'\(condition(.provider, "provider"))\(condition(.app, "app"))
                GROUP BY ROLLUP (hour) ORDER BY hour NULLS LAST;
                """
        case .feeds:
            return header + """
                SELECT minute, feed, subjects, followers, silentSeconds
                FROM feedMinutes
                WHERE minute >= '\(from)' AND minute < '\(to)'\(condition(.feed, "feed"))
                ORDER BY minute, feed;
                """
        }
    }
}
