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

    private static let oneProcess = "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off"

    /// One small statement in a transaction of its own, in one process of the server.
    package func look(_ query: Query) async throws -> [Row] { try await run(query, settings: FsckContext.oneProcess) }

    /// The same for a few rows against a large table: probes of its index. A hash of the whole other side would be made each time.
    package func probe(_ query: Query) async throws -> [Row] {
        try await run(
            query,
            settings: FsckContext.oneProcess + "; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
        )
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
