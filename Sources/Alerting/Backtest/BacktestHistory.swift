import AlertRules
import Attempts
import Postgres
import PushContract

/// Reads the history a backtest folds, a day at a time.
enum BacktestHistory {
    /// Histories of all groups with attempts, able to decide about every minute from `start` to `last`.
    static func read(
        _ rule: AlertRule,
        from start: Minute,
        through last: Minute,
        on session: any PostgresSession,
        onProgress: (RuleBacktest.Progress) -> Void = { _ in }
    ) async throws -> [GroupHistory] {
        guard rule.condition.source == .attempts else {
            let histories = try await SeriesStore.histories(rule, from: start - (rule.lookback + 1), through: last, on: session)
            onProgress(RuleBacktest.Progress(rule: rule.name, daysRead: 1, days: 1))
            return histories
        }
        let series = try await series(rule, from: start - (rule.lookback + 1), through: last, on: session, onProgress)
        if let condition = rule.condition.baseline {
            return try await BaselineStore(keepsDays: false).histories(
                rule,
                condition,
                series: series,
                after: start - 1,
                through: last,
                on: session
            )
        }
        let groups = Dictionary(grouping: series) { $0.key.restricted(to: rule.by) }
        let histories = groups.map { group, strata in
            GroupHistory(group: group, strata: strata.map { StratumHistory(key: $0.key, series: $0.value, days: []) })
        }.sorted { $0.group < $1.group }
        return try await CircuitSeries.add(to: histories, of: rule, from: start - (rule.lookback + 1), through: last, on: session)
    }

    /// One series for each stratum. A minute takes 16 bytes of it, so a month of a stratum takes 700 kB.
    private static func series(
        _ rule: AlertRule,
        from first: Minute,
        through last: Minute,
        on session: any PostgresSession,
        _ onProgress: (RuleBacktest.Progress) -> Void
    ) async throws -> [GroupKey: MinuteSeries] {
        let dimensions = rule.dimensions
        let length = last - first + 1
        var counts: [[String]: [AttemptCounts]] = [:]
        let days = (length + 1439) / 1440
        for day in 0..<days {
            try Task.checkCancellation()
            let from = first + day * 1440
            let rows = try await RollupStore.minutes(
                rule.selection(),
                by: dimensions.compactMap(\.rollup),
                from: from.timestamp,
                to: min(from + 1440, last + 1).timestamp,
                on: session
            )
            for row in rows {
                counts[row.values, default: Array(repeating: AttemptCounts(), count: length)][Int(row.period - first.index)] =
                    AttemptCounts(attempts: row.attempts, bad: row.bad)
            }
            onProgress(RuleBacktest.Progress(rule: rule.name, daysRead: day + 1, days: days))
        }
        return Dictionary(
            counts.map { (GroupKey(dimensions: dimensions, values: $0.key), MinuteSeries(first: first, minutes: $0.value)) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}
