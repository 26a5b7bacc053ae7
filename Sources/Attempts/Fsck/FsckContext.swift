package import Postgres
package import PushContract

/// What a check works with: the database, the moment, and the ways to look without hurting anybody.
package struct FsckContext: Sendable {
    package let pool: PostgresPool
    package let now: Timestamp
    /// How far back attempts are checked, by `attemptedAt`.
    package let days: Int64
    package let plan: PartitionPlan
    /// Before what looks wrong is looked at again.
    let pause: Duration
    let onProgress: @Sendable (_ done: Int, _ total: Int) -> Void

    /// Nothing later than this is compared: the last two minutes are still being written.
    var closedUntil: Timestamp { (now - .seconds(120)).flooredToMinute() }

    package func progress(_ done: Int, of total: Int) { onProgress(done, total) }

    /// One small statement in a transaction of its own, in one process of the server.
    /// - Parameter limit: for one that has to see all of a table in one snapshot; else the connection's own.
    package func look(_ query: Query, limit: Duration? = nil) async throws -> [Row] {
        let limited = limit.map { "; SET LOCAL statement_timeout = '\($0.components.seconds)s'" } ?? ""
        return try await run(query, settings: "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off" + limited)
    }

    /// The same for a few rows against a large table: probes of its index. A hash of the whole other side would be made each time.
    package func probe(_ query: Query) async throws -> [Row] {
        try await run(
            query,
            settings: """
                SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off;
                SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off
                """
        )
    }

    /// The rows of a query without parameters in pages, until one is empty or `body` returns false. `body` may ask the transaction for few
    /// rows of large tables: by probes, too.
    package func pages(
        of query: Query,
        size: Int = 2000,
        limit: Duration,
        _ body: ([Row], PostgresTransaction) async throws -> Bool
    ) async throws {
        try await pool.withTransaction(retrying: .never) { transaction in
            try await transaction.execute("SET LOCAL statement_timeout = '\(raw: "\(limit.components.seconds)")s'")
            try await transaction.execute("DECLARE page NO SCROLL CURSOR FOR \(query)")
            for method in ["hashjoin", "mergejoin"] { try await transaction.execute("SET LOCAL enable_\(raw: method) = off") }
            while case let rows = try await transaction.query("FETCH \(raw: "\(size)") FROM page"), !rows.isEmpty {
                guard try await body(rows, transaction) else { return }
            }
        }
    }

    private func run(_ query: Query, settings: String) async throws -> [Row] {
        try await pool.withConnection { connection in
            try await connection.withTransaction { transaction in
                try await connection.executeScript(settings)
                return try await transaction.query(query)
            }
        }
    }

    /// What is found each time it is looked at, with a pause between: twice. Where tables are distributed, a statement sees each node at a
    /// moment of its own, so what is being committed looks wrong more often.
    package func confirmed(_ look: () async throws -> [FsckFault]) async throws -> [FsckFault] {
        var faults = try await look()
        guard !faults.isEmpty else { return [] }
        let looks = try await DatabaseEngine.read(on: pool).isDistributed ? 5 : 1
        for _ in 0..<looks where !faults.isEmpty {
            try await Task.sleep(for: pause)
            let again = Set(try await look().map(\.key))
            faults.removeAll { !again.contains($0.key) }
        }
        return faults
    }
}
