import AlertRules
import Attempts
import Foundation
import Postgres
import PushContract
import Synchronization

/// The days a baseline learns from, stored once each, and since when a group is known.
///
/// `knownSince` is kept in memory, because it does not change as long as the process lives; the days are in the database.
final class BaselineStore: Sendable {
    private struct CacheKey: Hashable {
        var rule: String
        var group: GroupKey
    }

    private let keepsDays: Bool
    private let knownSince = Mutex<[CacheKey: Minute]>([:])

    /// `keepsDays`: store the days that were not stored yet. A backtest only reads: it takes stored days where there are some, and
    /// computes the others.
    init(keepsDays: Bool = true) { self.keepsDays = keepsDays }

    func histories(
        _ rule: AlertRule,
        _ condition: BaselineCondition,
        _ selection: RollupSelection,
        rows: [KeyedCounts],
        after base: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> [GroupHistory] {
        let series = Dictionary(grouping: rows, by: \.key).mapValues { rows in
            MinuteSeries(rows.map { MinuteCounts(minute: $0.minute, attempts: $0.counts.attempts, bad: $0.counts.bad) })
        }
        return try await histories(rule, condition, selection, series: series, after: base, through: last, on: session)
    }

    /// `series`: the minutes of each stratum, back to the rule's look-back before `base`.
    func histories(
        _ rule: AlertRule,
        _ condition: BaselineCondition,
        _ selection: RollupSelection,
        series: [GroupKey: MinuteSeries],
        after base: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> [GroupHistory] {
        let days = Self.days(condition, after: base, through: last)
        let stored = try await takeDays(rule, selection, days, on: session)
        let hours = try await BaselineHours(keepsHours: keepsDays).take(rule, condition, selection, after: base, through: last, on: session)
        let keys = Set(series.keys).union(stored.keys).union(hours.keys)
        let byGroup = Dictionary(grouping: keys) { $0.restricted(to: rule.by) }
        let since = try await firstMinutes(rule, condition, selection, groups: Set(byGroup.keys), after: base, through: last, on: session)
        let acceptances = try await AcceptanceStore.effective(rule, on: session)
        return byGroup.map { group, strata in
            let histories = strata.map { key in
                StratumHistory(
                    key: key,
                    series: series[key] ?? MinuteSeries(first: last, minutes: []),
                    days: stored[key] ?? [],
                    hours: hours[key] ?? []
                )
            }
            var history = GroupHistory(group: group, strata: histories, knownSince: since[group])
            history.acceptances = acceptances[group] ?? []
            return history
        }.sorted { $0.group < $1.group }
    }

    /// The whole days any minute after `base` may look at. The last one ended an hour before `last`, so that late rows are in it.
    static func days(_ condition: BaselineCondition, after base: Minute, through last: Minute) -> ClosedRange<Int64>? {
        let first = (base - condition.longestWindow.minutes - condition.gap.minutes).day - Int64(condition.referenceDays)
        let newest = (last - 60).day - 1
        return first <= newest ? first...newest : nil
    }

    /// All days: those that were stored, and the others from the rollups.
    private func takeDays(
        _ rule: AlertRule,
        _ selection: RollupSelection,
        _ days: ClosedRange<Int64>?,
        on session: any PostgresSession
    ) async throws -> [GroupKey: [DayCounts]] {
        guard let days else { return [:] }
        let stored = try await Self.read(rule, days, on: session)
        let known = Set(stored.values.flatMap { $0.map(\.day) })
        let missing = Set(days.filter { !known.contains($0) })
        guard !missing.isEmpty else { return stored }
        let computed = try await Self.compute(rule, selection, missing, on: session)
        guard keepsDays else {
            return stored.merging(computed) { ($0 + $1).sorted { $0.day < $1.day } }
        }
        guard !computed.isEmpty else { return stored }
        try await Self.store(rule, computed, on: session)
        return try await Self.read(rule, days, on: session)
    }

    private static func read(
        _ rule: AlertRule,
        _ days: ClosedRange<Int64>,
        on session: any PostgresSession
    ) async throws -> [GroupKey: [DayCounts]] {
        let rows = try await session.query(
            """
            SELECT stratum, (day - DATE '1970-01-01')::bigint, attempts, bad, excludedMinutes
            FROM alertBaselineDays
            WHERE rule = \(rule.name) AND ruleVersion = \(rule.version)
              AND day BETWEEN DATE '1970-01-01' + \(Int32(days.lowerBound)) AND DATE '1970-01-01' + \(Int32(days.upperBound))
            ORDER BY day
            """
        )
        var result: [GroupKey: [DayCounts]] = [:]
        for row in rows {
            let (stratum, day, attempts, bad, excluded) = try row.decode((String, Int64, Int64, Int64, Int).self)
            result[try GroupKey(labels: stratum), default: []].append(
                DayCounts(day: day, attempts: attempts, bad: bad, excludedMinutes: excluded)
            )
        }
        return result
    }

    private static func compute(
        _ rule: AlertRule,
        _ selection: RollupSelection,
        _ missing: Set<Int64>,
        on session: any PostgresSession
    ) async throws -> [GroupKey: [DayCounts]] {
        guard let first = missing.min(), let last = missing.max() else { return [:] }
        let exclusions = try await exclusions(on: session)
        let dimensions = rule.dimensions
        let counts = try await RollupStore.days(
            selection,
            by: dimensions.compactMap(\.rollup),
            from: Minute.firstOf(day: first).timestamp,
            to: Minute.firstOf(day: last + 1).timestamp,
            excluding: exclusions,
            on: session
        )
        var result: [GroupKey: [DayCounts]] = [:]
        for count in counts.sorted(by: { $0.period < $1.period }) where missing.contains(count.period) {
            let excluded = excludedMinutes(day: count.period, exclusions)
            result[GroupKey(dimensions: dimensions, values: count.values), default: []].append(
                DayCounts(day: count.period, attempts: count.attempts, bad: count.bad, excludedMinutes: excluded)
            )
        }
        return result
    }

    /// What must teach no baseline.
    static func exclusions(on session: any PostgresSession) async throws -> [(from: Timestamp, to: Timestamp)] {
        try await session.query("SELECT fromAt, toAt FROM alertBaselineExclusions ORDER BY fromAt").map { row in
            let (from, to) = try row.decode((Timestamp, Timestamp).self)
            return (from: from, to: to)
        }
    }

    /// The first snapshot of a day stays: an alert can be explained months later.
    private static func store(_ rule: AlertRule, _ days: [GroupKey: [DayCounts]], on session: any PostgresSession) async throws {
        let rows = days.flatMap { key, days in days.map { (key: key, day: $0) } }
        try await session.execute(
            """
            INSERT INTO alertBaselineDays (rule, ruleVersion, stratum, day, attempts, bad, excludedMinutes)
            SELECT \(rule.name)::text, \(rule.version)::text, stratum::jsonb, DATE '1970-01-01' + day::integer,
                   attempts, bad, excluded::integer
            FROM unnest(
                \(try rows.map { try AlertJSON.text($0.key.labels) }),
                \(rows.map(\.day.day)), \(rows.map(\.day.counts.attempts)), \(rows.map(\.day.counts.bad)),
                \(rows.map { Int64($0.day.excludedMinutes) })
            ) AS d (stratum, day, attempts, bad, excluded)
            ON CONFLICT DO NOTHING
            """
        )
    }

    private static func excludedMinutes(day: Int64, _ exclusions: [(from: Timestamp, to: Timestamp)]) -> Int {
        let start = Minute.firstOf(day: day).index
        return exclusions.reduce(0) { sum, exclusion in
            sum + Int(max(0, min(exclusion.to.minute, start + 1440) - max(exclusion.from.minute, start)))
        }
    }

    /// Some days more than the reference before the first minute are enough to determine whether learning is over, for a new rule's first days as well.
    private func firstMinutes(
        _ rule: AlertRule,
        _ condition: BaselineCondition,
        _ selection: RollupSelection,
        groups: Set<GroupKey>,
        after base: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> [GroupKey: Minute] {
        let cached = knownSince.withLock { known in
            groups.reduce(into: [GroupKey: Minute]()) { $0[$1] = known[CacheKey(rule: rule.version, group: $1)] }
        }
        if cached.count == groups.count { return cached }
        let from = base - (condition.reference.minutes + condition.longestWindow.minutes + condition.gap.minutes + 6 * 1440)
        let rows = try await RollupStore.firstMinutes(
            selection,
            by: rule.by.compactMap(\.rollup),
            from: from.timestamp,
            to: (last + 1).timestamp,
            on: session
        )
        let found = Dictionary(
            rows.map { (GroupKey(dimensions: rule.by, values: $0.values), Minute($0.minute)) },
            uniquingKeysWith: min
        )
        knownSince.withLock { known in
            for (group, minute) in found { known[CacheKey(rule: rule.version, group: group)] = minute }
        }
        return found
    }
}
