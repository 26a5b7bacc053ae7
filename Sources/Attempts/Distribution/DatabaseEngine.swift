package import Postgres

/// What runs the database. Read from the tables themselves: the extension may be there although nothing is distributed.
package enum DatabaseEngine: Sendable, Equatable, CustomStringConvertible {
    case single
    /// Attempts and ledger are distributed over several servers.
    case citus(shards: Int)

    package static func read(on session: some PostgresSession) async throws -> DatabaseEngine {
        guard try await hasExtension(on: session) else { return .single }
        let rows = try await session.query(
            """
            SELECT count(*) FROM pg_dist_shard JOIN pg_dist_partition USING (logicalrelid)
            WHERE logicalrelid = to_regclass('attemptLedger') AND partmethod = 'h'
            """
        )
        let shards = try rows[0].decode(Int.self)
        return shards == 0 ? .single : .citus(shards: shards)
    }

    static func isDistributed(_ table: String, on session: some PostgresSession) async throws -> Bool {
        guard try await hasExtension(on: session) else { return false }
        return try await !session.query("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass(\(table))").isEmpty
    }

    static func hasExtension(on session: some PostgresSession) async throws -> Bool {
        try await session.query("SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL")[0].decode(Bool.self)
    }

    package var isDistributed: Bool { self != .single }

    package var description: String {
        switch self {
        case .single: "one PostgreSQL"
        case .citus(let shards): "Citus, attempts and ledger in \(shards) shards"
        }
    }
}
