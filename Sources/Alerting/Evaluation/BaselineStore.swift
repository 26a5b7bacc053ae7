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
    private struct Known: Hashable {
        var rule: String
        var group: GroupKey
    }

    private let knownSince = Mutex<[Known: Minute]>([:])

    func histories(
        _ rule: AlertRule,
        _ condition: BaselineCondition,
        rows: [KeyedCounts],
        after base: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> [GroupHistory] {
        let days = Self.days(condition, after: base, through: last)
        let stored = try await takeDays(rule, days, on: session)
        let byStratum = Dictionary(grouping: rows) { $0.key }
        let keys = Set(byStratum.keys).union(stored.keys)
        let byGroup = Dictionary(grouping: keys) { $0.restricted(to: rule.by) }
        let since = try await firstMinutes(rule, condition, groups: Set(byGroup.keys), before: last, on: session)
        return byGroup.map { group, strata in
            let histories = strata.map { key in
                let minutes = (byStratum[key] ?? []).map {
                    MinuteCounts(minute: $0.minute, attempts: $0.counts.attempts, bad: $0.counts.bad)
                }
                return StratumHistory(key: key, series: MinuteSeries(minutes), days: stored[key] ?? [])
            }
            return GroupHistory(group: group, strata: histories, knownSince: since[group])
        }.sorted { $0.group < $1.group }
    }

    /// The whole days any minute after `base` may look at. The last one ended an hour before `last`, so that late rows are in it.
    static func days(_ condition: BaselineCondition, after base: Minute, through last: Minute) -> ClosedRange<Int64>? {
        let first = (base - condition.longestWindow.minutes - condition.gap.minutes).day - Int64(condition.referenceDays)
        let newest = (last - 60).day - 1
        return first <= newest ? first...newest : nil
    }

    /// Stores the days that were not stored yet, and returns all.
    private func takeDays(
        _ rule: AlertRule,
        _ days: ClosedRange<Int64>?,
        on session: any PostgresSession
    ) async throws -> [GroupKey: [DayCounts]] {
        guard let days else { return [:] }
        let stored = try await Self.read(rule, days, on: session)
        let known = Set(stored.values.flatMap { $0.map(\.day) })
        let missing = days.filter { !known.contains($0) }
        guard let first = missing.first, let last = missing.last else { return stored }
        try await Self.snapshot(rule, missing, first...last, on: session)
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
            let (stratum, day, attempts, bad, excluded) = try row.decode(String.self, Int64.self, Int64.self, Int64.self, Int.self)
            result[try GroupKey(labels: stratum), default: []].append(
                DayCounts(day: day, attempts: attempts, bad: bad, excludedMinutes: excluded)
            )
        }
        return result
    }

    private static func snapshot(
        _ rule: AlertRule,
        _ missing: [Int64],
        _ span: ClosedRange<Int64>,
        on session: any PostgresSession
    ) async throws {
        let exclusions = try await session.query("SELECT fromAt, toAt FROM alertBaselineExclusions ORDER BY fromAt")
            .map { row in
                let (from, to) = try row.decode(Timestamp.self, Timestamp.self)
                return (from: from, to: to)
            }
        let dimensions = rule.dimensions
        let counts = try await RollupStore.days(
            rule.selection(),
            by: dimensions.map(\.rollup),
            from: Minute.firstOf(day: span.lowerBound).timestamp,
            to: Minute.firstOf(day: span.upperBound + 1).timestamp,
            excluding: exclusions,
            on: session
        ).filter { missing.contains($0.period) }
        guard !counts.isEmpty else { return }
        // The first snapshot of a day stays: an alert can be explained months later.
        try await session.execute(
            """
            INSERT INTO alertBaselineDays (rule, ruleVersion, stratum, day, attempts, bad, excludedMinutes)
            SELECT \(rule.name)::text, \(rule.version)::text, stratum::jsonb, DATE '1970-01-01' + day::integer,
                   attempts, bad, excluded::integer
            FROM unnest(
                \(try counts.map { try AlertJSON.text(GroupKey(dimensions: dimensions, values: $0.values).labels) }),
                \(counts.map(\.period)), \(counts.map(\.attempts)), \(counts.map(\.bad)),
                \(counts.map { excludedMinutes(day: $0.period, exclusions) })
            ) AS d (stratum, day, attempts, bad, excluded)
            ON CONFLICT DO NOTHING
            """
        )
    }

    private static func excludedMinutes(day: Int64, _ exclusions: [(from: Timestamp, to: Timestamp)]) -> Int64 {
        let start = Minute.firstOf(day: day).index
        return exclusions.reduce(Int64(0)) { sum, exclusion in
            sum + max(0, min(exclusion.to.minute, start + 1440) - max(exclusion.from.minute, start))
        }
    }

    /// Some days more than the reference are enough to tell whether learning is over, for a new rule's first days as well.
    private func firstMinutes(
        _ rule: AlertRule,
        _ condition: BaselineCondition,
        groups: Set<GroupKey>,
        before last: Minute,
        on session: any PostgresSession
    ) async throws -> [GroupKey: Minute] {
        let cached = knownSince.withLock { known in
            groups.reduce(into: [GroupKey: Minute]()) { $0[$1] = known[Known(rule: rule.version, group: $1)] }
        }
        if cached.count == groups.count { return cached }
        let from = last - (condition.reference.minutes + condition.longestWindow.minutes + condition.gap.minutes + 6 * 1440)
        let rows = try await RollupStore.firstMinutes(
            rule.selection(),
            by: rule.by.map(\.rollup),
            from: from.timestamp,
            to: (last + 1).timestamp,
            on: session
        )
        let found = Dictionary(
            rows.map { (GroupKey(dimensions: rule.by, values: $0.values), Minute($0.minute)) },
            uniquingKeysWith: min
        )
        knownSince.withLock { known in
            for (group, minute) in found { known[Known(rule: rule.version, group: group)] = minute }
        }
        return found
    }
}
