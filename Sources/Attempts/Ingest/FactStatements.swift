import Foundation
import Postgres
import PushContract

/// The facts' statements: `notificationDeliveryAttempts`.
enum FactStatements {
    /// Copies new rows in, in binary form, straight from the packed records.
    static func copy(
        _ inserts: [AttemptGroups.Insert],
        of batch: AttemptBatch,
        receivedAt: Timestamp,
        on connection: BlockingConnection
    ) throws {
        let bytes = FactCopy.stream(inserts, of: batch, receivedAt: receivedAt)
        try bytes.withUnsafeBytes { _ = try connection.copyIn(FactCopy.statement, data: $0) }
    }

    /// A stored row, and which of its labels the rollups fold.
    struct Stored {
        var attempt: Attempt
        var folded: FoldedLabels
    }

    /// The stored rows of the given entries, for rollups and for answers.
    static func stored(_ entries: [LedgerEntry], on connection: BlockingConnection) throws -> [AttemptKey: Stored] {
        try stored(entries.map { ($0.key, $0.attemptedAt) }, on: connection)
    }

    /// The rows with these keys and times; of several with one key the oldest.
    static func stored(
        _ positions: [(key: AttemptKey, attemptedAt: Timestamp)],
        on connection: BlockingConnection
    ) throws -> [AttemptKey: Stored] {
        guard !positions.isEmpty else { return [:] }
        return try decode(
            connection.query(
                """
                SELECT \(raw: StoredAttempt.columns), foldedLabels
                FROM notificationDeliveryAttempts
                JOIN unnest(\(positions.map(\.attemptedAt)), \(positions.map(\.key))) AS wanted (at, key)
                    ON attemptedAt = wanted.at AND attemptKey = wanted.key
                """
            )
        )
    }

    /// The rows of these records' ids within `PersonSpan.reach` of them, under the same uid; of several with one key the oldest.
    ///
    /// No index finds an id without its stamp. By the index of users each row of the batch's people in the days around is read once at
    /// most, so the work is bounded by what those people had in these days, not by that times the batch. Where many have few rows each, the
    /// planner may read the partitions of these days instead, in one pass. The bounds of all are said once more as constants, so that no
    /// other partition is read.
    ///
    /// The keys are a subquery that `IS TRUE` keeps from becoming a join: it is hashed once and filters rows as they are read, in each
    /// plan. As a join, a prepared plan, which takes arrays for ten elements, compares each row with each key.
    static func stored(
        near records: [AttemptBatch.Record],
        of batch: AttemptBatch,
        on connection: BlockingConnection
    ) throws -> [AttemptKey: Stored] {
        let spans = PersonSpan.near(records, of: batch)
        guard let first = spans.map(\.since).min(), let last = spans.map(\.until).max() else { return [:] }
        return try decode(
            connection.query(
                """
                SELECT \(raw: StoredAttempt.columns), foldedLabels
                FROM notificationDeliveryAttempts
                JOIN unnest(\(spans.map(\.uid)), \(spans.map(\.since)), \(spans.map(\.until))) AS span (person, since, until)
                    ON uid = span.person AND attemptedAt >= span.since AND attemptedAt <= span.until
                WHERE attemptedAt >= \(first) AND attemptedAt <= \(last)
                  AND (attemptKey IN (SELECT key FROM unnest(\(Array(Set(records.map(\.key))))) AS wanted (key))) IS TRUE
                """
            )
        )
    }

    private static func decode(_ rows: [Row]) throws -> [AttemptKey: Stored] {
        try Dictionary(
            rows.map { row in
                let attempt = try StoredAttempt.decode(row)
                let labels = try row.decode(Int16.self, at: AttemptColumn.contract.count)
                return (AttemptKey(attemptId: attempt.attemptId), Stored(attempt: attempt, folded: FoldedLabels(rawValue: UInt8(labels))))
            },
            uniquingKeysWith: { $1.attempt.attemptedAt < $0.attempt.attemptedAt ? $1 : $0 }
        )
    }

    /// Takes rows forward: the later report replaces everything but identity, `attemptedAt` and `receivedAt`. Replacing the optional
    /// fields as a whole is what makes the outcome independent of the order in which the reports came.
    static func advance(_ moves: [AttemptMove], of batch: AttemptBatch, on connection: BlockingConnection) throws {
        let names = AttemptColumn.latest.map { "\($0.name)" }.joined(separator: ", ")
        let assignments = AttemptColumn.latest.map { column in
            if case .word = column.definition.kind { return "\(column.name) = moved.\(column.name)" }
            return "\(column.name) = moved.\(column.name)::\(column.type)"
        }.joined(separator: ", ")
        var sql = Query.StringInterpolation(literalCapacity: 600, interpolationCount: AttemptColumn.latest.count + 2)
        sql.appendLiteral("UPDATE notificationDeliveryAttempts AS fact SET \(assignments) FROM unnest(")
        sql.appendInterpolation(moves.map(\.entry.attemptedAt))
        sql.appendLiteral(", ")
        sql.appendInterpolation(moves.map(\.entry.key))
        for column in AttemptColumn.latest {
            sql.appendLiteral(", ")
            switch column.definition.kind {
            case .text, .optionalText: sql.appendInterpolation(moves.map { batch.string($0.record[column]) })
            case .optionalInteger: sql.appendInterpolation(moves.map { $0.record[column].integer })
            case .word:
                sql.appendInterpolation(words: moves.map { $0.record.word(column).map { "\($0)" } })
                sql.appendLiteral("::\(column.type)[]")
            case .labels: sql.appendInterpolation(moves.map { Int32($0.record.folded.rawValue) })
            case .moment, .key: preconditionFailure("the first report decides \(column.name)")
            }
        }
        sql.appendLiteral(") AS moved (at, key, \(names)) WHERE fact.attemptedAt = moved.at AND fact.attemptKey = moved.key")
        try connection.execute(Query(stringInterpolation: sql))
    }

    /// Which of these days are stored by columns (docs/citus.md).
    static func columnarDays(of days: Set<Int64>, on connection: BlockingConnection) throws -> Set<Int64> {
        let byName = Dictionary(uniqueKeysWithValues: days.map { (PartitionPlan.fact(day: $0).name.lowercased(), $0) })
        let rows = try connection.query(
            """
            SELECT relname::text FROM pg_class JOIN pg_am ON pg_am.oid = relam
            WHERE amname = 'columnar' AND relname = ANY(\(Array(byName.keys)))
              AND pg_class.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'notificationDeliveryAttempts'::regclass)
            """
        )
        return try Set(rows.compactMap { try byName[$0.decode(String.self)] })
    }
}
