package import Postgres

/// A plain table, cut by place in its file, which is read in its order.
package enum FilePieces {
    /// What rows of each piece satisfy; nil if there is no such table.
    ///
    /// - Parameters:
    ///   - column: the table's `ctid`, as the statement calls it.
    ///   - pages: of a piece.
    package static func read(
        _ table: String,
        column: String = "ctid",
        pages: Int64,
        on session: some PostgresSession
    ) async throws -> [Query]? {
        let rows = try await session.query("SELECT pg_relation_size(to_regclass(\(table))) / current_setting('block_size')::bigint")
        guard let size = try rows[0].decode(Int64?.self) else { return nil }
        return stride(from: 0, through: max(0, size - 1), by: Int64.Stride(pages)).map { start in
            let from: Query = "\(raw: column) >= \(raw: "'(\(start),0)'::tid")"
            // The last piece has no end: the table may have grown meanwhile.
            return start + pages >= size ? from : "\(from) AND \(raw: column) < \(raw: "'(\(start + pages),0)'::tid")"
        }
    }
}
