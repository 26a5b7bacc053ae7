import Postgres
import PushContract
import Testing

/// 1,000 attempts, each posted four times by eight connections, shuffled, a third of them re-stamped.
struct DoubledAttempts {
    private let now = Timestamp.now()
    private let originals: [SampleAttempt]

    init() {
        originals = (0..<1_000).map { [now] index in
            SampleAttempt(id: "id-\(index)", at: now - .seconds(index * 13), reason: index % 7 == 0 ? "network" : nil)
        }
    }

    /// How many were accepted.
    func post(to servers: [API]) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for poster in 0..<8 {
                let items = portion(poster)
                let api = servers[poster % servers.count]
                group.addTask {
                    var accepted = 0
                    for start in stride(from: 0, to: items.count, by: 50) {
                        let body = items[start..<min(start + 50, items.count)].map(\.json)
                        let answer = try await api.post("/attempts", Array(body))
                        #expect(answer.status == 200, "\(answer.text.prefix(500))")
                        accepted += answer.count("accepted")
                    }
                    return accepted
                }
            }
            return try await group.reduce(0, +)
        }
    }

    /// - Parameter others: rows of other origin.
    func expectOnce(in pool: PostgresPool, others: Int = 0) async throws {
        let ledger = Ledger(session: pool)
        #expect(try await ledger.rows == 1_000 + others)
        #expect(try await ledger.found(Set(originals.map(\.id))) == 1_000)
        #expect(try await ledger.doubled == 0)
        try await ledger.expectConsistent()
    }

    /// Half of all attempts, so that eight posters send each four times; a third of them re-stamped by seconds to days.
    private func portion(_ poster: Int) -> [SampleAttempt] {
        originals.enumerated().filter { $0.offset % 2 == (poster / 2) % 2 }.map { index, original in
            var copy = original
            if (index + poster) % 3 == 0 { copy.at = now - .seconds([3, 700, 40_000, 90_000, 400_000][(index + poster) % 5] + index) }
            return copy
        }.shuffled()
    }
}
