import Postgres
import PushContract
import Testing

@testable import Delivery

@Suite("An analyst's snapshot")
struct SnapshotTests {
    private let total = 12_000

    private func fill(_ bench: SendingBench) async throws {
        try await bench.fill(total)
        // Statistics that change between two looks could change the plan; this test is about one plan's cost.
        try await bench.pool.execute("ALTER TABLE pushReady SET (autovacuum_enabled = off)")
    }

    /// Buffers that finding the next hundred takes: those looked at, in memory or not. What a checkpoint writes meanwhile is not counted.
    private func buffers(_ pool: PostgresPool, cursor: Int64) async throws -> Int {
        let lines = try await pool.withConnection { connection in
            try await connection.perform { connection in
                try connection.query(
                    """
                    EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF)
                    SELECT seq FROM pushReady WHERE queue = 1 AND seq >= \(cursor) ORDER BY seq LIMIT 100 FOR UPDATE SKIP LOCKED
                    """
                ).map { try $0.decode(String.self) }
            }
        }
        let plan = lines.joined(separator: "\n")
        #expect(plan.contains("Index Scan"), "the buffers are those of the claim's index: \(plan)")
        return try buffers(lines)
    }

    /// - Parameter plan: from EXPLAIN (ANALYZE, BUFFERS).
    private func buffers(_ plan: [String]) throws -> Int {
        let line = try #require(plan.first { $0.contains("Buffers:") })
        return line.matches(of: /(?:hit|read)=(\d+)/).compactMap { Int($0.output.1) }.reduce(0, +)
    }

    @Test("leases are renewed by their numbers, without a look at those that ended meanwhile")
    func renewals() async throws {
        try await SendingBench.with { bench in
            let pool = bench.pool
            try await bench.fill(4)
            let leases = Set(try await bench.claim().map(\.leaseToken)).sorted()
            #expect(!leases.isEmpty)
            let lines = try await pool.withConnection { analyst in
                try await analyst.executeScript("BEGIN ISOLATION LEVEL REPEATABLE READ")
                _ = try await analyst.query("SELECT count(*) FROM pushLeases")
                try await pool.execute(
                    """
                    INSERT INTO pushLeases (leaseToken, worker, claimedAt, leaseUntil, deliveryIds, attemptNumbers, tokenHashes)
                    SELECT -n, 'gone', now(), now(), '{}', '{}', '{}' FROM generate_series(1, 20000) n
                    """
                )
                try await pool.execute("DELETE FROM pushLeases WHERE worker = 'gone'")
                try await pool.execute("ANALYZE pushLeases")
                let lines = try await pool.performTransaction { connection in
                    // As in the sessions that send.
                    try connection.execute("SET LOCAL enable_seqscan = off")
                    let renew = RenewQueries.renew(leases, lease: .seconds(3600))
                    return try connection.query("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF) \(renew)").map {
                        try $0.decode(String.self)
                    }
                }
                try await analyst.executeScript("ROLLBACK")
                return lines
            }
            #expect(try buffers(lines) < 100, "\(lines.joined(separator: "\n"))")
            #expect(lines.contains { $0.contains("Update on pushleases") }, "\(lines.joined(separator: "\n"))")
        }
    }

    @Test("claims stay short while it is blocked: they begin behind what was claimed, which the snapshot keeps from being cleaned up")
    func claims() async throws {
        try await SendingBench.with { bench in
            let pool = bench.pool
            try await fill(bench)
            let fresh = try await buffers(pool, cursor: 0)
            let (withCursor, withoutCursor) = try await pool.withConnection { analyst in
                try await analyst.executeScript("BEGIN ISOLATION LEVEL REPEATABLE READ")
                _ = try await analyst.query("SELECT count(*) FROM pushReady")
                var cursor: Int64 = 0
                for _ in 0..<20 {
                    let claimed = try await bench.store.claim(queue: 1, cursor: cursor, limit: 500, lease: .seconds(60), worker: "w")
                    #expect(claimed.count == 500)
                    cursor = (claimed.last?.seq ?? 0) + 1
                }
                try await pool.execute("VACUUM pushReady")
                let withCursor = try await buffers(pool, cursor: cursor)
                let withoutCursor = try await buffers(pool, cursor: 0)
                try await analyst.executeScript("ROLLBACK")
                return (withCursor, withoutCursor)
            }
            print(
                "buffers of a claim's search: fresh \(fresh), with 10,000 claimed under a snapshot \(withCursor), without a floor \(withoutCursor)"
            )
            #expect(withCursor <= fresh * 2)
            // The test sees what the floor is for.
            #expect(withoutCursor > withCursor * 3 / 2)
        }
    }
}
