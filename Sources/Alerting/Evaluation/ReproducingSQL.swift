import AlertRules
import Attempts
import PushContract

/// A read-only statement, for psql, that returns the numbers of a verdict: one row a minute, and the total in the last row.
enum ReproducingSQL {
    static func text(_ transition: Transition, rule: AlertRule, frozen: [FrozenShare]) -> String {
        let window = transition.evidence.observed
        switch rule.condition.source {
        case .attempts: break
        case .backlog, .queueAge, .codes, .reregistrations: return SeriesSQL.text(transition, rule: rule)
        }
        let header =
            "-- \(transition.rule) (\(transition.group)), version \(transition.ruleVersion): "
            + "\(window.counts.bad) of \(window.counts.attempts) attempts when it fired.\n"
        guard transition.evidence.level.isMultiple, !frozen.isEmpty else {
            return header + counts(rule, conditions(rule, transition.group, window, alias: "")) + openCircuits(transition, rule: rule)
        }
        return header + expectation(rule, conditions(rule, transition.group, window, alias: "r."), frozen)
    }

    private static func counts(_ rule: AlertRule, _ conditions: String) -> String {
        """
        SELECT minute, sum(attempts)::bigint AS attempts,
               \(bad(rule)) AS bad,
               round(100.0 * \(bad(rule)) / sum(attempts), 2) AS percent
        FROM attemptRollups
        WHERE \(conditions)
        GROUP BY ROLLUP (minute)
        ORDER BY minute NULLS LAST;
        """
    }

    /// What waited for refused credentials, when that had a part in it.
    private static func openCircuits(_ transition: Transition, rule: AlertRule) -> String {
        guard transition.evidence.openCircuits != nil else { return "" }
        let window = transition.evidence.observed
        let allowed = rule.selection(in: transition.group).allowed.filter { $0.key != .eventType }.sorted {
            $0.key.rawValue < $1.key.rawValue
        }
        let filters = allowed.map { dimension, values in
            "\n  AND \(dimension.rawValue) IN (\(values.map(quoted).joined(separator: ", ")))"
        }.joined()
        let reasons = rule.condition.reasons.map(quoted).joined(separator: ", ")
        return "\n\n" + """
            SELECT minute, provider, app, environment, reasonCode, cause, since, waiting
            FROM circuitMinutes
            WHERE minute >= '\(window.first.timestamp.rfc3339)' AND minute < '\((window.last + 1).timestamp.rfc3339)'
              AND reasonCode IN (\(reasons))\(filters)
            ORDER BY minute, waiting DESC;
            """
    }

    /// With the shares as they were frozen when the alert fired.
    private static func expectation(_ rule: AlertRule, _ conditions: String, _ frozen: [FrozenShare]) -> String {
        let names = rule.dimensions.map(\.rawValue)
        let values = frozen.sorted { $0.stratum < $1.stratum }.map { share in
            "  (" + (rule.dimensions.map { quoted(share.stratum[$0] ?? "") } + ["\(share.share)::float8"]).joined(separator: ", ") + ")"
        }
        let join = names.map { "s.\($0) = r.\($0)::text" }.joined(separator: " AND ")
        return """
            WITH healthy (\((names + ["share"]).joined(separator: ", "))) AS (VALUES
            \(values.joined(separator: ",\n"))
            )
            SELECT minute, sum(attempts)::bigint AS attempts,
                   \(bad(rule)) AS bad,
                   sum(attempts * share) AS expected
            FROM attemptRollups r LEFT JOIN healthy s ON \(join.isEmpty ? "true" : join)
            WHERE \(conditions)
            GROUP BY ROLLUP (minute)
            ORDER BY minute NULLS LAST;
            """
    }

    private static func bad(_ rule: AlertRule) -> String {
        let reasons = rule.condition.reasons.map(quoted).joined(separator: ", ")
        let statuses = rule.condition.statuses.map(quoted).joined(separator: ", ")
        let ended = statuses.isEmpty ? "" : " AND status IN (\(statuses))"
        return "coalesce(sum(attempts) FILTER (WHERE reasonCode IN (\(reasons))\(ended)), 0)::bigint"
    }

    private static func conditions(_ rule: AlertRule, _ group: GroupKey, _ window: WindowCounts, alias: String) -> String {
        let prefix = alias
        let allowed = rule.selection(in: group).allowed.sorted { $0.key.rawValue < $1.key.rawValue }
        let filters = allowed.map { dimension, values in
            "\(prefix)\(dimension.rawValue)::text IN (\(values.map(quoted).joined(separator: ", ")))"
        }
        let span = "minute >= '\(window.first.timestamp.rfc3339)' AND minute < '\((window.last + 1).timestamp.rfc3339)'"
        return ([span, "status IN ('sent', 'failed', 'deactivated')"] + filters).joined(separator: "\n  AND ")
    }

    static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}
