/// Counts of one combination of dimension values in one minute: a row of the rollups, reduced to one rule.
package struct KeyedCounts: Sendable, Hashable {
    package var key: GroupKey
    package var minute: Minute
    package var counts: AttemptCounts

    package init(key: GroupKey, minute: Minute, attempts: Int64, bad: Int64) {
        self.key = key
        self.minute = minute
        counts = AttemptCounts(attempts: attempts, bad: bad)
    }
}

/// Attempts and bad attempts of one stratum on one UTC day, without excluded minutes.
package struct DayCounts: Sendable, Hashable, Codable {
    package var day: Int64
    package var counts: AttemptCounts
    /// Of each hour.
    package var hours: [AttemptCounts]
    package var excludedMinutes: Int

    package init(day: Int64, hours: [AttemptCounts], excludedMinutes: Int = 0) {
        self.day = day
        self.hours = hours
        self.excludedMinutes = excludedMinutes
        counts = hours.reduce(AttemptCounts(), +)
    }
}

/// Part of a group's traffic that has its own healthy share: recent minutes, and whole days before them.
package struct StratumHistory: Sendable, Hashable {
    package var key: GroupKey
    package var series: MinuteSeries
    package var days: [DayCounts]

    /// `days` are the stored daily snapshots; `series` needs to reach back `AlertRule.lookback` only.
    package init(key: GroupKey, series: MinuteSeries, days: [DayCounts]) {
        self.key = key
        self.series = series
        self.days = days
    }

    /// Derives the days from minutes that reach back far enough.
    package init(key: GroupKey, series: MinuteSeries) {
        self.init(key: key, series: series, days: DailySnapshot.days(of: series))
    }
}

/// Everything by which a rule decides about one group.
package struct GroupHistory: Sendable, Hashable {
    package let group: GroupKey
    package let strata: [StratumHistory]
    /// All strata together.
    package let total: MinuteSeries
    /// The first minute with an attempt: the learning period of a baseline begins there.
    package let knownSince: Minute?
    /// Open circuits, for rules with `min_blocked`.
    package var circuits = CircuitMinutes()
    /// Levels that a person has accepted as normal, for baselines.
    package var acceptances: [BaselineAcceptance] = []

    /// - Parameter knownSince: required where the series do not begin at the first attempt or before.
    package init(group: GroupKey, strata: [StratumHistory], knownSince: Minute? = nil) {
        self.group = group
        self.strata = strata.sorted { $0.key < $1.key }
        total = MinuteSeries.sum(self.strata.map(\.series))
        self.knownSince = knownSince ?? total.firstAttempt
    }

    /// A group without strata: enough for ratio rules.
    package init(group: GroupKey = GroupKey(), series: MinuteSeries) {
        self.init(group: group, strata: [StratumHistory(key: group, series: series)])
    }

    /// Sorts rows into the groups and strata of a rule. Rows must have the rule's `dimensions`.
    package static func groups(of rule: AlertRule, rows: some Sequence<KeyedCounts>) -> [GroupHistory] {
        let byStratum = Dictionary(grouping: rows) { $0.key.restricted(to: rule.dimensions) }
        let byGroup = Dictionary(grouping: byStratum) { $0.key.restricted(to: rule.by) }
        return byGroup.map { group, strata in
            GroupHistory(
                group: group,
                strata: strata.map { key, rows in
                    let series = MinuteSeries(
                        rows.map { MinuteCounts(minute: $0.minute, attempts: $0.counts.attempts, bad: $0.counts.bad) }
                    )
                    return StratumHistory(key: key, series: series)
                }
            )
        }.sorted { $0.group < $1.group }
    }
}
