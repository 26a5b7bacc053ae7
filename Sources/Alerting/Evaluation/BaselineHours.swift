import AlertRules
import Attempts
import Postgres
import PushContract

/// The hours a seasonal baseline learns from, stored once each.
struct BaselineHours {
    /// Stores the hours that were not stored yet; otherwise only reads.
    let keepsHours: Bool

    /// Nothing for a baseline that learns from days.
    func take(
        _ rule: AlertRule,
        _ condition: BaselineCondition,
        _ selection: RollupSelection,
        after base: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> [GroupKey: [HourCounts]] {
        guard condition.seasonality != nil else { return [:] }
        // An hour is complete an hour after its end, so that late rows are in it.
        let reach = WeekSeason.reach(from: base - condition.longestWindow.minutes, through: last)
        let newest = min(reach.upperBound, (last - 60).index / 60 - 1)
        guard reach.lowerBound <= newest else { return [:] }
        let wanted = reach.lowerBound...newest
        let stored = try await read(rule, wanted, on: session)
        let missing = wanted.filter { !stored.known.contains($0) }
        guard let first = missing.first, let end = missing.last else { return stored.counts }
        var computed = try await compute(rule, selection, first...end, on: session)
        computed.removeAll { stored.known.contains($0.hour.hour) }
        if keepsHours { try await store(rule, computed, missing: missing, on: session) }
        return computed.reduce(into: stored.counts) { $0[$1.stratum, default: []].append($1.hour) }
    }

    private func read(
        _ rule: AlertRule,
        _ hours: ClosedRange<Int64>,
        on session: any PostgresSession
    ) async throws -> (counts: [GroupKey: [HourCounts]], known: Set<Int64>) {
        let rows = try await session.query(
            """
            SELECT stratum, (extract(epoch FROM hour) / 3600)::bigint, attempts, bad FROM alertBaselineHours
            WHERE rule = \(rule.name) AND ruleVersion = \(rule.version)
              AND hour BETWEEN \(Self.moment(hours.lowerBound)) AND \(Self.moment(hours.upperBound))
            """
        )
        var result: (counts: [GroupKey: [HourCounts]], known: Set<Int64>) = ([:], [])
        for row in rows {
            let (stratum, hour, attempts, bad) = try row.decode((String, Int64, Int64, Int64).self)
            result.known.insert(hour)
            guard attempts > 0 else { continue }
            result.counts[try GroupKey(labels: stratum), default: []].append(HourCounts(hour: hour, attempts: attempts, bad: bad))
        }
        return result
    }

    private func compute(
        _ rule: AlertRule,
        _ selection: RollupSelection,
        _ hours: ClosedRange<Int64>,
        on session: any PostgresSession
    ) async throws -> [(stratum: GroupKey, hour: HourCounts)] {
        try await RollupStore.hours(
            selection,
            by: rule.dimensions.compactMap(\.rollup),
            from: Self.moment(hours.lowerBound),
            to: Self.moment(hours.upperBound + 1),
            excluding: try await BaselineStore.exclusions(on: session),
            on: session
        ).map {
            (GroupKey(dimensions: rule.dimensions, values: $0.values), HourCounts(hour: $0.period, attempts: $0.attempts, bad: $0.bad))
        }
    }

    /// The first snapshot of an hour stays. Hours older than any window looks at are dropped.
    private func store(
        _ rule: AlertRule,
        _ rows: [(stratum: GroupKey, hour: HourCounts)],
        missing: [Int64],
        on session: any PostgresSession
    ) async throws {
        let silent = Set(missing).subtracting(rows.map(\.hour.hour)).sorted()
        let all = rows + silent.map { (stratum: GroupKey(), hour: HourCounts(hour: $0, attempts: 0, bad: 0)) }
        try await session.execute(
            """
            INSERT INTO alertBaselineHours (rule, ruleVersion, stratum, hour, attempts, bad)
            SELECT \(rule.name)::text, \(rule.version)::text, stratum::jsonb, hour, attempts, bad
            FROM unnest(
                \(try all.map { try AlertJSON.text($0.stratum.labels) }), \(all.map { Self.moment($0.hour.hour) }),
                \(all.map(\.hour.counts.attempts)), \(all.map(\.hour.counts.bad))
            ) AS h (stratum, hour, attempts, bad)
            ON CONFLICT DO NOTHING
            """
        )
        guard let newest = missing.last else { return }
        try await session.execute(
            "DELETE FROM alertBaselineHours WHERE rule = \(rule.name) AND hour < \(Self.moment(newest - 60 * 24))"
        )
    }

    private static func moment(_ hour: Int64) -> Timestamp { Timestamp(seconds: hour * 3600) }
}
