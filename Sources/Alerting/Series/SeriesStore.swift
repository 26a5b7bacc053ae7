import AlertRules
import Postgres
import PushContract

/// Reads the minutes of rules on other series than the rollups.
///
/// Live evaluation and backtests read the same tables, which are never changed for minutes that are over: the same data, the same alerts.
enum SeriesStore {
    static func histories(
        _ rule: AlertRule,
        from first: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> [GroupHistory] {
        switch rule.condition.source {
        case .attempts: return []
        case .backlog, .queueAge: return GroupHistory.groups(of: rule, rows: try await queue(rule, first, last, session))
        case .reregistrations: return GroupHistory.groups(of: rule, rows: try await reregistrations(rule, first, last, session))
        case .feeds: return GroupHistory.groups(of: rule, rows: try await FeedSeries.rows(from: first, through: last, on: session))
        case .codes:
            let rows = try await codes(rule, first, last, session)
            let known = try await firstAttempt(on: session)
            return Dictionary(grouping: rows, by: \.key).map { key, rows in
                let series = MinuteSeries(rows.map { MinuteCounts(minute: $0.minute, attempts: $0.counts.attempts, bad: $0.counts.bad) })
                return GroupHistory(group: key, strata: [StratumHistory(key: key, series: series, days: [])], knownSince: known)
            }.sorted { $0.group < $1.group }
        }
    }

    /// One sample a minute and group: the sum of what waits, or the age of the oldest.
    private static func queue(
        _ rule: AlertRule,
        _ first: Minute,
        _ last: Minute,
        _ session: any PostgresSession
    ) async throws -> [KeyedCounts] {
        let providers = rule.condition.of.allowed[.provider]
        let group: Query = rule.by.isEmpty ? "''" : "provider"
        let value: Query = rule.condition.source == .queueAge ? "coalesce(max(oldestSeconds), 0)" : "sum(waiting)::bigint"
        return try await session.query(
            """
            SELECT minute, \(group), \(value) FROM sendBacklogMinutes
            WHERE minute >= \(first.timestamp) AND minute <= \(last.timestamp)
              AND (\(providers == nil) OR provider = ANY(\(providers ?? [])))
            GROUP BY 1, 2
            """
        ).map {
            let (minute, provider, value) = try $0.decode((Timestamp, String, Int64).self)
            return KeyedCounts(key: GroupKey([.provider: provider]), minute: Minute(minute), attempts: 1, bad: value)
        }
    }

    private static func codes(
        _ rule: AlertRule,
        _ first: Minute,
        _ last: Minute,
        _ session: any PostgresSession
    ) async throws -> [KeyedCounts] {
        let rows = try await session.query(
            """
            SELECT firstAt, provider, code, attempts FROM providerCodeDays
            WHERE day >= (\(first.timestamp) AT TIME ZONE 'UTC')::date AND firstAt <= \(last.timestamp)
            """
        ).map {
            let (minute, provider, code, attempts) = try $0.decode((Timestamp, String, String, Int64).self)
            let key = GroupKey([.provider: provider, .providerErrorCode: code])
            return KeyedCounts(key: key, minute: Minute(minute), attempts: attempts, bad: attempts)
        }
        let providers = rule.condition.of.allowed[.provider]
        return rows.filter { providers?.contains($0.key[.provider] ?? "") ?? true }
    }

    /// A cohort counts in the minute in which its day is over.
    private static func reregistrations(
        _ rule: AlertRule,
        _ first: Minute,
        _ last: Minute,
        _ session: any PostgresSession
    ) async throws -> [KeyedCounts] {
        let rows = try await session.query(
            """
            SELECT hour, provider, app, devices, reregistered FROM deviceReregistrationHours
            WHERE hour >= \((first - ReregistrationSeries.known).timestamp) AND hour <= \((last - ReregistrationSeries.known).timestamp)
            """
        ).map {
            let (hour, provider, app, devices, reregistered) = try $0.decode((Timestamp, String, String, Int64, Int64).self)
            let key = GroupKey([.provider: provider, .app: app])
            return KeyedCounts(key: key, minute: Minute(hour) + ReregistrationSeries.known, attempts: devices, bad: devices - reregistered)
        }
        return rows.filter { rule.condition.of.admits($0.key) }
    }

    private static func firstAttempt(on session: any PostgresSession) async throws -> Minute? {
        try await session.query("SELECT min(minute) FROM attemptRollups").first?.decode(Timestamp?.self).map { Minute($0) }
    }
}
