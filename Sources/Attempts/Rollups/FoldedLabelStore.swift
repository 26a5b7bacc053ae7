package import Postgres
package import PushContract

/// Which authors reported more values of a label than are counted apart: `foldedLabelDays`.
package enum FoldedLabelStore {
    private static let retention = Duration.seconds(30 * 86_400)

    /// An author whose labels are folded.
    package struct Author: Sendable, Hashable {
        package var name: String
        /// In order, without repetitions.
        package var labels: [String]
        package var foldedAt: Timestamp
    }

    package static func add(_ folds: [LabelLimiter.Fold], at now: Timestamp, on session: any PostgresSession) async throws {
        guard !folds.isEmpty else { return }
        try await session.execute(
            """
            INSERT INTO foldedLabelDays AS known (day, author, label, attempts, foldedAt)
            SELECT DATE '1970-01-01' + day::integer, author, label, attempts, \(now)
            FROM unnest(\(folds.map(\.day)), \(folds.map(\.author)), \(folds.map(\.label)), \(folds.map(\.attempts)))
                AS folded (day, author, label, attempts)
            ON CONFLICT (day, author, label) DO UPDATE SET attempts = known.attempts + excluded.attempts, foldedAt = excluded.foldedAt
            """
        )
        try await session.execute("DELETE FROM foldedLabelDays WHERE foldedAt < \(now - retention)")
    }

    /// The authors with a folded label since then.
    package static func authors(since: Timestamp, on session: any PostgresSession) async throws -> [Author] {
        try await session.query(
            """
            SELECT author, array_agg(DISTINCT label ORDER BY label), max(foldedAt)
            FROM foldedLabelDays WHERE foldedAt > \(since) GROUP BY author ORDER BY author
            """
        ).map {
            let (name, labels, foldedAt) = try $0.decode((String, [String], Timestamp).self)
            return Author(name: name, labels: labels, foldedAt: foldedAt)
        }
    }
}
