import Postgres
import PushContract
import Testing

@testable import Delivery

@Suite("The claim's plan")
struct ClaimPlanTests {
    @Test("a claim out of a large backlog walks indexes only")
    func plan() async throws {
        try await SendingBench.with { bench in
            let pool = bench.pool
            try await bench.fill(50_000)
            let lines: [String] = try await pool.withConnection { connection in
                try await connection.perform { connection in
                    let claim = ClaimQueries.claim(queue: 1, cursor: 0, limit: 250, lease: .seconds(60), worker: "w")
                    return try connection.query("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) \(claim)").map { try $0.decode(String.self) }
                }
            }
            let large = ["pushready", "pushdeliveries", "pushsends"]
            let scans = lines.filter { line in large.contains { line.contains("Seq Scan on \($0)") } }
            #expect(scans.isEmpty, "\(lines.joined(separator: "\n"))")
            #expect(try await bench.count("pushLeases") == 250)
        }
    }

    @Test("a look for due deliveries reads none of those that are not due")
    func due() async throws {
        try await SendingBench.with { bench in
            try await bench.pool.execute(
                """
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                SELECT n, 1, clock_timestamp() + interval '1 day', 1 FROM generate_series(1, 20000) n
                """
            )
            let lines: [String] = try await bench.pool.withConnection { connection in
                try await connection.perform {
                    try $0.query("EXPLAIN (ANALYZE, TIMING OFF) \(ClaimQueries.promote)").map { try $0.decode(String.self) }
                }
            }
            #expect(!lines.contains { $0.contains("Rows Removed by Filter") }, "\(lines.joined(separator: "\n"))")
        }
    }
}
