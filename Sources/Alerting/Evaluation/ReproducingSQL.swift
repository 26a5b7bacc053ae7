import AlertRules
import Attempts
import PushContract

/// A read-only statement, for psql, that returns the numbers of a verdict: one row a minute, and the total in the last row.
enum ReproducingSQL {
    static func text(_ transition: Transition, rule: AlertRule, frozen: [FrozenShare]) -> String {
        let window = transition.evidence.observed
        switch rule.condition.source {
        case .attempts: break
        case .backlog, .queueAge, .codes, .reregistrations, .feeds: return SeriesSQL.text(transition, rule: rule)
        }
        if let drop = rule.condition.trafficDrop { return usual(transition, rule: rule, drop) }
        let header =
            "-- \(transition.rule) (\(transition.group)), version \(transition.ruleVersion): "
            + "\(window.counts.bad) of \(window.counts.attempts) attempts when it fired.\n"
        guard transition.evidence.level.isMultiple, !frozen.isEmpty else {
            let conditions = conditions(rule, transition.group, window, alias: "")
            let more = rule.condition.latency == nil ? openCircuits(transition, rule: rule) : latencies(conditions)
            return header + counts(rule, conditions) + more
        }
        return header + expectation(rule, conditions(rule, transition.group, window, alias: "r."), frozen)
    }

    private static func counts(_ rule: AlertRule, _ conditions: String) -> String {
        """
        WITH counted AS MATERIALIZED (
        SELECT minute, sum(attempts) AS attempts,
               \(bad(rule)) AS bad
        FROM \(rule.countSource.rawValue)
        WHERE \(conditions)
        GROUP BY minute
        )
        SELECT minute, sum(attempts)::bigint AS attempts, coalesce(sum(bad), 0)::bigint AS bad,
               round(100.0 * sum(bad) / nullif(sum(attempts), 0), 2) AS percent
        FROM counted
        GROUP BY ROLLUP (minute)
        ORDER BY minute NULLS LAST;
        """
    }

    /// Where the window's percentiles are: the percentage of attempts that took no longer than a bound.
    private static func latencies(_ conditions: String) -> String {
        "\n\n" + """
            SELECT upToMs, sum(attempts)::bigint AS attempts,
                   round(100.0 * sum(sum(attempts)) OVER (ORDER BY upToMs) / nullif(sum(sum(attempts)) OVER (), 0), 2) AS percent
            FROM attemptLatencies
            WHERE \(conditions)
            GROUP BY upToMs
            ORDER BY upToMs;
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

    /// What was attempted, and the lower median of the weeks before: at this time, an hour earlier or an hour later.
    private static func usual(_ transition: Transition, rule: AlertRule, _ drop: TrafficDropCondition) -> String {
        let window = transition.evidence.observed
        return """
            -- \(transition.rule) (\(transition.group)), version \(transition.ruleVersion).
            WITH counted AS (
                SELECT week, shift, coalesce(sum(attempts), 0)::bigint AS attempts
                FROM generate_series(0, \(drop.weeks)) AS week
                CROSS JOIN unnest(ARRAY[-\(TrafficDropCondition.shift), 0, \(TrafficDropCondition.shift)]) AS shift
                CROSS JOIN LATERAL (
                    SELECT interval '1 minute' * shift - interval '168 hours' * week AS distance
                ) AS other
                LEFT JOIN attemptRollups ON minute >= timestamptz '\(window.first.timestamp.rfc3339)' + distance
                  AND minute < timestamptz '\((window.last + 1).timestamp.rfc3339)' + distance
                  AND \(filters(rule, transition.group, alias: ""))
                GROUP BY week, shift
            ), medians AS (
                SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY attempts) AS median FROM counted WHERE week > 0 GROUP BY shift
            )
            SELECT (SELECT attempts FROM counted WHERE week = 0 AND shift = 0) AS attempts, min(median) AS usual FROM medians;
            """
    }

    private static func bad(_ rule: AlertRule) -> String {
        if let latency = rule.condition.latency { return "coalesce(sum(attempts) FILTER (WHERE upToMs > \(latency.aboveMs)), 0)::bigint" }
        let reasons = rule.condition.reasons.map(quoted).joined(separator: ", ")
        let statuses = rule.condition.statuses.map(quoted).joined(separator: ", ")
        let ended = statuses.isEmpty ? "" : " AND status IN (\(statuses))"
        let codes = rule.condition.codes.map(quoted).joined(separator: ", ")
        let coded = codes.isEmpty ? "" : " AND providerErrorCode IN (\(codes))"
        return "coalesce(sum(attempts) FILTER (WHERE reasonCode IN (\(reasons))\(ended)\(coded)), 0)::bigint"
    }

    private static func conditions(_ rule: AlertRule, _ group: GroupKey, _ window: WindowCounts, alias: String) -> String {
        let time = rule.countSource.time
        let span = "\(time) >= '\(window.first.timestamp.rfc3339)' AND \(time) < '\((window.last + 1).timestamp.rfc3339)'"
        return [span, filters(rule, group, alias: alias)].filter { !$0.isEmpty }.joined(separator: "\n  AND ")
    }

    /// `alias` with its point.
    private static func filters(_ rule: AlertRule, _ group: GroupKey, alias: String) -> String {
        let allowed = rule.selection(in: group).allowed.sorted { $0.key.rawValue < $1.key.rawValue }
        let filters = allowed.map { dimension, values in
            "\(alias)\(dimension.rawValue)::text IN (\(values.map(quoted).joined(separator: ", ")))"
        }
        let ended = rule.condition.latency == nil ? ["status IN ('sent', 'failed', 'deactivated')"] : []
        return (ended + filters).joined(separator: "\n  AND ")
    }

    static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}
