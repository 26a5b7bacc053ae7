import AlertRules
import Attempts
import Foundation
import Postgres
import PushContract
import Synchronization

/// The days on which baselines are trained, stored once each, and since when a group is known.
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
        let keys = Set(series.keys).union(stored.keys)
        let byGroup = Dictionary(grouping: keys) { $0.restricted(to: rule.by) }
        // Version 2 has training days instead.
        let since =
            condition.version == .one
            ? try await firstMinutes(rule, condition, selection, groups: Set(byGroup.keys), after: base, through: last, on: session) : [:]
        let acceptances = try await AcceptanceStore.effective(rule, on: session)
        return byGroup.map { group, strata in
            let histories = strata.map { key in
                StratumHistory(
                    key: key,
                    series: series[key] ?? MinuteSeries(first: last, minutes: []),
                    days: stored[key] ?? []
                )
            }
            var history = GroupHistory(group: group, strata: histories, knownSince: since[group])
            history.acceptances = acceptances[group] ?? []
            return history
        }.sorted { $0.group < $1.group }
    }

    /// The whole days on which decisions about minutes after `base` depend. The last one ended an hour before `last`, so late rows are in
    /// it.
    static func days(_ condition: BaselineCondition, after base: Minute, through last: Minute) -> ClosedRange<Int64>? {
        let first = base.day - Int64(condition.knownDays)
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
        let missing = days.filter { !stored.known.contains($0) }
        guard let first = missing.first, let last = missing.last else { return stored.counts }
        var computed = try await Self.compute(rule, selection, first...last, on: session)
        for (stratum, days) in computed { computed[stratum] = days.filter { !stored.known.contains($0.day) } }
        if keepsDays { try await Self.store(rule, computed, missing, on: session) }
        return stored.counts.merging(computed) { ($0 + $1).sorted { $0.day < $1.day } }
    }

    /// Days that were stored before an import of attempts are counted anew: the history may be another one.
    private static func read(
        _ rule: AlertRule,
        _ days: ClosedRange<Int64>,
        on session: any PostgresSession
    ) async throws -> (counts: [GroupKey: [DayCounts]], known: Set<Int64>) {
        let rows = try await session.query(
            """
            SELECT stratum, (day - DATE '1970-01-01')::bigint, hourAttempts, hourBad, excludedMinutes
            FROM alertBaselineDays
            WHERE rule = \(rule.name) AND ruleVersion = \(rule.version)
              AND day BETWEEN DATE '1970-01-01' + \(Int32(days.lowerBound)) AND DATE '1970-01-01' + \(Int32(days.upperBound))
              AND storedAt > coalesce((SELECT max(updatedAt) FROM attemptImports), '-infinity')
            ORDER BY day
            """
        )
        var result: (counts: [GroupKey: [DayCounts]], known: Set<Int64>) = ([:], [])
        for row in rows {
            let (stratum, day, attempts, bad, excluded) = try row.decode((String, Int64, [Int64], [Int64], Int).self)
            let hours = zip(attempts, bad).map { AttemptCounts(attempts: $0, bad: $1) }
            let counts = DayCounts(day: day, hours: hours, excludedMinutes: excluded)
            result.known.insert(day)
            if counts.counts.attempts > 0 { result.counts[try GroupKey(labels: stratum), default: []].append(counts) }
        }
        return result
    }

    private static func compute(
        _ rule: AlertRule,
        _ selection: RollupSelection,
        _ days: ClosedRange<Int64>,
        on session: any PostgresSession
    ) async throws -> [GroupKey: [DayCounts]] {
        let exclusions = try await exclusions(on: session)
        let dimensions = rule.dimensions
        let counts = try await RollupStore.hours(
            selection,
            by: dimensions.compactMap(\.rollup),
            from: Minute.firstOf(day: days.lowerBound).timestamp,
            to: Minute.firstOf(day: days.upperBound + 1).timestamp,
            excluding: exclusions,
            on: session
        )
        var hours: [GroupKey: [Int64: [AttemptCounts]]] = [:]
        let empty = [AttemptCounts](repeating: AttemptCounts(), count: 24)
        for count in counts {
            let key = GroupKey(dimensions: dimensions, values: count.values)
            let counts = AttemptCounts(attempts: count.attempts, bad: count.bad)
            hours[key, default: [:]][count.period / 24, default: empty][Int(count.period % 24)] = counts
        }
        return hours.mapValues { days in
            days.sorted { $0.key < $1.key }.map { day, hours in
                DayCounts(day: day, hours: hours, excludedMinutes: Self.excludedMinutes(day: day, exclusions))
            }
        }
    }

    /// The periods that are excluded from training.
    static func exclusions(on session: any PostgresSession) async throws -> [(from: Timestamp, to: Timestamp)] {
        try await session.query("SELECT fromAt, toAt FROM alertBaselineExclusions ORDER BY fromAt").map { row in
            let (from, to) = try row.decode((Timestamp, Timestamp).self)
            return (from: from, to: to)
        }
    }

    /// A day without attempts has one row with an empty stratum, so that it is not read again. What was stored of a day before is replaced.
    private static func store(
        _ rule: AlertRule,
        _ days: [GroupKey: [DayCounts]],
        _ missing: [Int64],
        on session: any PostgresSession
    ) async throws {
        let silent = Set(missing).subtracting(days.values.joined().map(\.day)).sorted()
        let empty = silent.map { DayCounts(day: $0, hours: Array(repeating: AttemptCounts(), count: 24)) }
        let all = days.map { ($0.key, $0.value) } + [(GroupKey(), empty)]
        let rows = try all.flatMap { key, days in
            let stratum = try AlertJSON.text(key.labels)
            return days.flatMap { day in day.hours.enumerated().map { (stratum, day.day, Int64(day.excludedMinutes), Int64($0), $1) } }
        }
        try await session.execute(
            """
            DELETE FROM alertBaselineDays
            WHERE rule = \(rule.name) AND ruleVersion = \(rule.version)
              AND day IN (SELECT DATE '1970-01-01' + day::integer FROM unnest(\(missing)) AS missing (day))
            """
        )
        try await session.execute(
            """
            INSERT INTO alertBaselineDays (rule, ruleVersion, stratum, day, hourAttempts, hourBad, excludedMinutes)
            SELECT \(rule.name)::text, \(rule.version)::text, stratum::jsonb, DATE '1970-01-01' + day::integer,
                   array_agg(attempts ORDER BY hour), array_agg(bad ORDER BY hour), max(excluded)::integer
            FROM unnest(
                \(rows.map(\.0)), \(rows.map(\.1)), \(rows.map(\.2)), \(rows.map(\.3)), \(rows.map(\.4.attempts)), \(rows.map(\.4.bad))
            ) AS h (stratum, day, excluded, hour, attempts, bad)
            GROUP BY stratum, day
            ON CONFLICT (rule, ruleVersion, day, stratum) DO UPDATE
            SET hourAttempts = excluded.hourAttempts, hourBad = excluded.hourBad, excludedMinutes = excluded.excludedMinutes,
                storedAt = excluded.storedAt
            """
        )
    }

    /// Removes the days that no baseline needs any more, and those of versions that are not in force.
    static func clean(_ rules: [AlertRule], now: Timestamp, on session: any PostgresSession) async throws {
        let known = rules.compactMap { rule -> (rule: String, days: Int64)? in
            // Some days more, as evaluation may be behind.
            rule.condition.baseline.map { (rule.name, Int64($0.knownDays) + 7) }
        }
        let today = Minute(now).day
        try await session.execute(
            """
            DELETE FROM alertBaselineDays stored
            WHERE NOT EXISTS (SELECT FROM alertRuleProgress p WHERE p.rule = stored.rule AND p.ruleVersion = stored.ruleVersion)
               OR EXISTS (SELECT FROM unnest(\(known.map(\.rule)), \(known.map { today - $0.days })) AS known (rule, day)
                          WHERE known.rule = stored.rule AND stored.day < DATE '1970-01-01' + known.day::integer)
            """
        )
    }

    private static func excludedMinutes(day: Int64, _ exclusions: [(from: Timestamp, to: Timestamp)]) -> Int {
        let start = Minute.firstOf(day: day).index
        return exclusions.reduce(0) { sum, exclusion in
            sum + Int(max(0, min(exclusion.to.minute, start + 1440) - max(exclusion.from.minute, start)))
        }
    }

    /// Some days more than the reference before the first minute are enough to decide whether the learning period is over, also in the
    /// first days of a new rule.
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
