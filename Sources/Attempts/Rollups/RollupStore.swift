package import Postgres
package import PushContract

/// Attempts with an outcome in one minute, or on one day, and how many of them were bad.
package struct RollupCounts: Sendable, Hashable {
    /// Whole minutes (or days) since 1970 UTC.
    package var period: Int64
    /// In the order of the dimensions asked for.
    package var values: [String]
    package var attempts: Int64
    package var bad: Int64
}

/// One value of one dimension, within a window and in the time before it.
package struct RollupShare: Sendable, Hashable {
    package var dimension: RollupDimension
    package var value: String
    package var attempts: Int64
    package var bad: Int64
    package var attemptsBefore: Int64
    package var badBefore: Int64
}

/// Reads the rollups. Counts are attempts with an outcome: `queued` ones are left out until they have one.
///
/// Every query is bounded by the leading column of the key and the partitioning. Its cost follows the length of the window and the number
/// of combinations, and never the number of attempts, but where an exact version or the provider's codes are asked for.
package enum RollupStore {
    /// Counts per minute and combination of `dimensions`, from `from` up to and excluding `to`.
    package static func minutes(
        _ selection: RollupSelection,
        by dimensions: [RollupDimension],
        from: Timestamp,
        to: Timestamp,
        on session: any PostgresSession
    ) async throws -> [RollupCounts] {
        try await periods("(extract(epoch FROM minute) / 60)::bigint", selection, dimensions, from, to, session)
    }

    /// The values of a dimension with the most attempts, and how many there are in all.
    ///
    /// - Parameter leastBad: values with fewer bad attempts do not count.
    package static func largest(
        _ dimension: RollupDimension,
        _ selection: RollupSelection,
        leastBad: Int64 = 0,
        limit: Int,
        from: Timestamp,
        to: Timestamp,
        on session: any PostgresSession
    ) async throws -> (values: [String], total: Int) {
        let rows = try await session.query(
            """
            SELECT value, count(*) OVER () FROM (
                SELECT \(raw: dimension.sql) AS value, sum(attempts) AS attempts FROM \(raw: selection.source(by: [dimension]).rawValue)
                WHERE \(condition(selection, [dimension], from, to))
                GROUP BY 1 HAVING coalesce(sum(attempts) FILTER (WHERE \(selection.isBad)), 0) >= \(leastBad)
            ) AS counted
            ORDER BY attempts DESC, value LIMIT \(limit)
            """
        ).map { try $0.decode((String, Int).self) }
        return (rows.map(\.0), rows.first?.1 ?? 0)
    }

    /// Counts per minute, one combination of `dimensions` after the other: memory holds those of one combination, and a part of what is
    /// read.
    package static func eachCombination(
        _ selection: RollupSelection,
        by dimensions: [RollupDimension],
        from: Timestamp,
        to: Timestamp,
        on pool: PostgresPool,
        _ body: (_ values: [String], _ minutes: [RollupCounts]) throws -> Void
    ) async throws {
        try await pool.withTransaction("BEGIN READ ONLY", retrying: .never) { transaction in
            try await transaction.execute(
                """
                DECLARE combinations NO SCROLL CURSOR FOR
                SELECT (extract(epoch FROM minute) / 60)::bigint, \(raw: array(dimensions)) AS combination, attempts::bigint, bad::bigint
                FROM (\(summed(selection, dimensions, from, to))) AS minutes
                ORDER BY combination
                """
            )
            var minutes: [RollupCounts] = []
            while case let rows = try await transaction.query("FETCH 20000 FROM combinations"), !rows.isEmpty {
                for row in rows {
                    let (period, values, attempts, bad) = try row.decode((Int64, [String], Int64, Int64).self)
                    if let last = minutes.last, !last.values.elementsEqual(values, by: { ExactText($0) == ExactText($1) }) {
                        try body(last.values, minutes)
                        minutes.removeAll(keepingCapacity: true)
                    }
                    minutes.append(RollupCounts(period: period, values: values, attempts: attempts, bad: bad))
                }
            }
            if let last = minutes.last { try body(last.values, minutes) }
        }
    }

    /// The same per whole UTC hour. `from` and `to` should be full hours; minutes inside an exclusion do not count.
    package static func hours(
        _ selection: RollupSelection,
        by dimensions: [RollupDimension],
        from: Timestamp,
        to: Timestamp,
        excluding exclusions: [(from: Timestamp, to: Timestamp)] = [],
        on session: any PostgresSession
    ) async throws -> [RollupCounts] {
        try await periods("floor(extract(epoch FROM minute) / 3600)::bigint", selection, dimensions, from, to, session, exclusions)
    }

    /// The first minute of each combination of `dimensions` at or after `from`, in minutes since 1970.
    package static func firstMinutes(
        _ selection: RollupSelection,
        by dimensions: [RollupDimension],
        from: Timestamp,
        to: Timestamp,
        on session: any PostgresSession
    ) async throws -> [(values: [String], minute: Int64)] {
        let query: Query = """
            SELECT \(raw: array(dimensions)), (extract(epoch FROM min(minute)) / 60)::bigint
            FROM (SELECT minute\(columns(dimensions, selection)) FROM \(raw: selection.source(by: dimensions).rawValue)
                  WHERE \(condition(selection, dimensions, from, to))) AS counted
            GROUP BY 1
            """
        return try await session.query(query).map {
            let (values, minute) = try $0.decode(([String], Int64).self)
            return (values, minute)
        }
    }

    /// Every value of every dimension between `from` and `to`, with its counts from `before` to `from` for comparison.
    package static func shares(
        _ selection: RollupSelection,
        before: Timestamp,
        from: Timestamp,
        to: Timestamp,
        on session: any PostgresSession
    ) async throws -> [RollupShare] {
        let dimensions: [RollupDimension] = [.provider, .platform, .app, .environment, .pushType]
        let columns = dimensions.map(\.rawValue)
        let names = dimensions.map { "WHEN GROUPING(\($0.rawValue)) = 0 THEN '\($0.rawValue)'" }.joined(separator: " ")
        let values = dimensions.map { "WHEN GROUPING(\($0.rawValue)) = 0 THEN \($0.sql)" }.joined(separator: " ")
        // Attempts may be distributed, and have no grouping sets then.
        let query: Query = """
            WITH counted AS MATERIALIZED (
                SELECT \(raw: columns.joined(separator: ", ")),
                       coalesce(sum(attempts) FILTER (WHERE minute >= \(from)), 0) AS now,
                       coalesce(sum(attempts) FILTER (WHERE minute >= \(from) AND \(selection.isBad)), 0) AS bad,
                       coalesce(sum(attempts) FILTER (WHERE minute < \(from)), 0) AS before,
                       coalesce(sum(attempts) FILTER (WHERE minute < \(from) AND \(selection.isBad)), 0) AS badBefore
                FROM \(raw: selection.source(by: dimensions).rawValue)
                WHERE \(condition(selection, dimensions, before, to)) GROUP BY \(raw: columns.joined(separator: ", "))
            )
            SELECT CASE \(raw: names) END, CASE \(raw: values) END, sum(now)::bigint, sum(bad)::bigint,
                   sum(before)::bigint, sum(badBefore)::bigint
            FROM counted GROUP BY GROUPING SETS (\(raw: columns.map { "(\($0))" }.joined(separator: ", ")))
            """
        return try await session.query(query).compactMap {
            let (name, value, attempts, bad, attemptsBefore, badBefore) = try $0.decode((String, String, Int64, Int64, Int64, Int64).self)
            guard let dimension = RollupDimension(rawValue: name) else { return nil }
            return RollupShare(
                dimension: dimension,
                value: value,
                attempts: attempts,
                bad: bad,
                attemptsBefore: attemptsBefore,
                badBefore: badBefore
            )
        }
    }

    private static func periods(
        _ period: String,
        _ selection: RollupSelection,
        _ dimensions: [RollupDimension],
        _ from: Timestamp,
        _ to: Timestamp,
        _ session: any PostgresSession,
        _ exclusions: [(from: Timestamp, to: Timestamp)] = []
    ) async throws -> [RollupCounts] {
        let period: Query = """
            SELECT \(raw: period) AS period, \(raw: array(dimensions)), sum(attempts)::bigint, sum(bad)::bigint
            FROM (\(summed(selection, dimensions, from, to, exclusions))) AS minutes
            GROUP BY period\(raw: dimensions.map { ", \($0.rawValue)" }.joined())
            """
        return try await session.query(period).map {
            let (period, values, attempts, bad) = try $0.decode((Int64, [String], Int64, Int64).self)
            return RollupCounts(period: period, values: values, attempts: attempts, bad: bad)
        }
    }

    /// Summed up by plain columns first: periods and texts are made once for each sum, not once for each row of the rollups.
    private static func summed(
        _ selection: RollupSelection,
        _ dimensions: [RollupDimension],
        _ from: Timestamp,
        _ to: Timestamp,
        _ exclusions: [(from: Timestamp, to: Timestamp)] = []
    ) -> Query {
        let columnNumbers = (1...dimensions.count + 1).map { "\($0)" }.joined(separator: ", ")
        return """
            SELECT minute\(columns(dimensions, selection)), sum(attempts) AS attempts,
                   coalesce(sum(attempts) FILTER (WHERE \(selection.isBad)), 0) AS bad
            FROM \(raw: selection.source(by: dimensions).rawValue)
            WHERE \(condition(selection, dimensions, from, to))\(excluded(exclusions))
            GROUP BY \(raw: columnNumbers)
            """
    }

    /// The dimensions as columns of their own names, those beyond what is counted apart as one value.
    private static func columns(_ dimensions: [RollupDimension], _ selection: RollupSelection) -> Query {
        dimensions.reduce("") { query, dimension in
            guard let kept = selection.kept[dimension] else { return "\(query), \(raw: dimension.rawValue)" }
            let name = dimension.rawValue
            return "\(query), CASE WHEN \(raw: name) = ANY(\(kept)) THEN \(raw: name) ELSE \(FoldedLabels.other)::text END AS \(raw: name)"
        }
    }

    /// The dimensions of a row as one array of text.
    private static func array(_ dimensions: [RollupDimension]) -> String {
        "ARRAY[\(dimensions.map(\.sql).joined(separator: ", "))]::text[]"
    }

    private static func condition(
        _ selection: RollupSelection,
        _ dimensions: [RollupDimension],
        _ from: Timestamp,
        _ to: Timestamp
    ) -> Query {
        let time = selection.source(by: dimensions).time
        var query: Query = "\(raw: time) >= \(from) AND \(raw: time) < \(to)"
        if selection.slowerThanMs == nil { query = "\(query) AND status IN ('sent', 'failed', 'deactivated')" }
        if !selection.spans.isEmpty {
            let parts = selection.spans.map { "\(raw: time) >= \($0.lowerBound) AND \(raw: time) < \($0.upperBound)" as Query }
            query = "\(query) AND (\(parts.dropFirst().reduce(parts[0]) { "\($0) OR \($1)" }))"
        }
        for (dimension, values) in selection.allowed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let type = dimension.enumType else {
                query = "\(query) AND \(raw: dimension.rawValue) = ANY(\(values))"
                continue
            }
            // The texts become values of the column's type once; a text that is none of them matches nothing.
            query = """
                \(query) AND \(raw: dimension.rawValue) = ANY(ARRAY(
                    SELECT value FROM unnest(enum_range(NULL::\(raw: type))) AS value WHERE value::text = ANY(\(values))
                ))
                """
        }
        return query
    }

    private static func excluded(_ exclusions: [(from: Timestamp, to: Timestamp)]) -> Query {
        guard !exclusions.isEmpty else { return "" }
        return """
             AND NOT EXISTS (SELECT FROM unnest(\(exclusions.map(\.from)), \(exclusions.map(\.to))) AS e (f, t)
                             WHERE minute >= f AND minute < t)
            """
    }
}
