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
}
