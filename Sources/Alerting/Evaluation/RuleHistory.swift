package import AlertRules
package import Attempts
import Postgres
import PushContract

/// Reads the history of a rule from the rollups and the other series.
enum RuleHistory {
    /// The histories of the groups in scope, one after the other, able to decide about every minute after `base` up to `last`.
    ///
    /// A baseline's strata and refused credentials belong to several groups, so the histories of such rules are read together.
    static func each(
        _ rule: AlertRule,
        _ scope: RuleScope,
        after base: Minute,
        through last: Minute,
        baseline: BaselineStore,
        on pool: PostgresPool,
        _ body: (GroupHistory) throws -> Void
    ) async throws {
        guard let selection = scope.selection else { return }
        guard rule.condition.source == .attempts, rule.condition.baseline == nil, rule.condition.ratio?.minBlocked == nil else {
            let histories = try await read(rule, selection, after: base, through: last, baseline: baseline, on: pool)
            return try histories.forEach(body)
        }
        let dimensions = rule.dimensions
        try await RollupStore.eachCombination(
            selection,
            by: dimensions.compactMap(\.rollup),
            from: (base - (rule.lookback + 1)).timestamp,
            to: (last + 1).timestamp,
            on: pool
        ) { values, minutes in
            let series = MinuteSeries(minutes.map { MinuteCounts(minute: Minute($0.period), attempts: $0.attempts, bad: $0.bad) })
            let key = GroupKey(dimensions: dimensions, values: values)
            try body(GroupHistory(group: key, strata: [StratumHistory(key: key, series: series, days: [])]))
        }
    }

    /// Histories of all groups with attempts, able to decide about every minute after `base` up to `last`.
    static func read(
        _ rule: AlertRule,
        _ selection: RollupSelection? = nil,
        after base: Minute,
        through last: Minute,
        baseline: BaselineStore,
        on session: any PostgresSession
    ) async throws -> [GroupHistory] {
        let selection = selection ?? rule.selection()
        let first = base - (rule.lookback + 1)
        guard rule.condition.source == .attempts else {
            return try await SeriesStore.histories(rule, from: first, through: last, on: session)
        }
        let dimensions = rule.dimensions
        let counts = try await RollupStore.minutes(
            selection,
            by: dimensions.compactMap(\.rollup),
            from: first.timestamp,
            to: (last + 1).timestamp,
            on: session
        )
        let rows = counts.map {
            KeyedCounts(
                key: GroupKey(dimensions: dimensions, values: $0.values),
                minute: Minute($0.period),
                attempts: $0.attempts,
                bad: $0.bad
            )
        }
        guard let condition = rule.condition.baseline else {
            return try await CircuitSeries.add(
                to: GroupHistory.groups(of: rule, rows: rows),
                of: rule,
                from: first,
                through: last,
                on: session
            )
        }
        return try await baseline.histories(rule, condition, selection, rows: rows, after: base, through: last, on: session)
    }
}

extension AlertRule {
    /// The table that its minutes are summed from.
    var countSource: CountSource { selection().source(by: dimensions.compactMap(\.rollup)) }

    /// Its dimensions with any number of values, of which a limited number is evaluated apart.
    var openDimensions: [(dimension: Dimension, column: RollupDimension)] {
        [(.app, .app), (.appVersion, .appVersion)].filter { dimensions.contains($0.dimension) }
    }

    /// The rule's filter, narrowed to one group.
    package func selection(in group: GroupKey = GroupKey()) -> RollupSelection {
        var allowed: [RollupDimension: [String]] = [:]
        for (dimension, values) in condition.of.allowed { dimension.rollup.map { allowed[$0] = values } }
        for (dimension, value) in group.values { dimension.rollup.map { allowed[$0] = [value] } }
        var selection = RollupSelection(allowed: allowed, reasons: condition.reasons, badStatuses: condition.statuses)
        selection.badCodes = condition.codes
        selection.slowerThanMs = condition.latency?.aboveMs
        return selection
    }
}

extension Dimension {
    /// The column of the rollups; the provider's own code and the feed are in none.
    var rollup: RollupDimension? {
        switch self {
        case .eventType: .eventType
        case .provider: .provider
        case .platform: .platform
        case .environment: .environment
        case .app: .app
        case .pushType: .pushType
        case .appMajor: .appMajor
        case .appVersion: .appVersion
        case .providerErrorCode, .feed: nil
        }
    }
}

extension GroupKey {
    init(dimensions: [Dimension], values: [String]) {
        self.init(Dictionary(zip(dimensions, values).map { ($0, $1) }, uniquingKeysWith: { first, _ in first }))
    }
}
