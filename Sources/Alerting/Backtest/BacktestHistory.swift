import AlertRules
import Attempts
import Postgres

/// Reads the history a backtest folds, a day at a time.
enum BacktestHistory {
    /// Apps, or versions, that a rule by them is backtested for, at most: those with the most attempts. The others are one group, `other`.
    static let maxValues = 200

    /// The histories of the groups with attempts, one after the other, able to decide about every minute from `start` to `last`.
    ///
    /// Minutes without attempts take memory only while their group is folded.
    static func each(
        _ rule: AlertRule,
        from start: Minute,
        through last: Minute,
        on session: any PostgresSession,
        onProgress: (RuleBacktest.Progress) -> Void = { _ in },
        _ body: (GroupHistory) -> Void
    ) async throws {
        let first = start - (rule.lookback + 1)
        guard rule.condition.source == .attempts else {
            let histories = try await SeriesStore.histories(rule, from: first, through: last, on: session)
            onProgress(RuleBacktest.Progress(rule: rule.name, daysRead: 1, days: 1))
            return histories.forEach(body)
        }
        let selection = try await selection(rule, from: first, through: last, on: session)
        var minutes = try await minutes(rule, selection, from: first, through: last, on: session, onProgress)
        if let condition = rule.condition.baseline {
            let histories = try await BaselineStore(keepsDays: false).histories(
                rule,
                condition,
                selection,
                series: minutes.mapValues { MinuteSeries($0) },
                after: start - 1,
                through: last,
                on: session
            )
            return histories.forEach(body)
        }
        func history(_ group: GroupKey) -> GroupHistory {
            let series = MinuteSeries(minutes.removeValue(forKey: group) ?? [])
            return GroupHistory(group: group, strata: [StratumHistory(key: group, series: series, days: [])])
        }
        let groups = minutes.keys.sorted()
        guard rule.condition.ratio?.minBlocked != nil else { return groups.forEach { body(history($0)) } }
        try await CircuitSeries.add(to: groups.map(history), of: rule, from: first, through: last, on: session).forEach(body)
    }

    private static func selection(
        _ rule: AlertRule,
        from first: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> RollupSelection {
        var selection = rule.selection()
        for (_, column) in rule.openDimensions {
            let largest = try await RollupStore.largest(
                column,
                selection,
                limit: maxValues,
                from: first.timestamp,
                to: (last + 1).timestamp,
                on: session
            )
            if largest.total > maxValues { selection.kept[column] = largest.values }
        }
        return selection
    }

    /// The minutes with attempts of each stratum.
    private static func minutes(
        _ rule: AlertRule,
        _ selection: RollupSelection,
        from first: Minute,
        through last: Minute,
        on session: any PostgresSession,
        _ onProgress: (RuleBacktest.Progress) -> Void
    ) async throws -> [GroupKey: [MinuteCounts]] {
        let dimensions = rule.dimensions
        var minutes: [GroupKey: [MinuteCounts]] = [:]
        let days = (last - first + 1440) / 1440
        for day in 0..<days {
            try Task.checkCancellation()
            let from = first + day * 1440
            let rows = try await RollupStore.minutes(
                selection,
                by: dimensions.compactMap(\.rollup),
                from: from.timestamp,
                to: min(from + 1440, last + 1).timestamp,
                on: session
            )
            for row in rows {
                let key = GroupKey(dimensions: dimensions, values: row.values)
                minutes[key, default: []].append(MinuteCounts(minute: Minute(row.period), attempts: row.attempts, bad: row.bad))
            }
            onProgress(RuleBacktest.Progress(rule: rule.name, daysRead: day + 1, days: days))
        }
        return minutes
    }
}
