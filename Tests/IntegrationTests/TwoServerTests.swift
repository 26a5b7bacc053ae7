import Foundation
import PushContract
import TestDatabase
import Testing

extension WholeService {
    @Suite("Two servers, one database")
    struct TwoServerTests {
        @Test("1,000 attempts posted four times by eight connections, shuffled, a third re-stamped: 1,000 rows, counted once")
        func once() async throws {
            try await withDatabaseURL { database in
                async let first = ServerProcess.start(database: database)
                async let second = ServerProcess.start(database: database)
                let servers = try await [first, second]
                for server in servers { try await server.waitUntilReady() }
                let now = Timestamp.now()
                let originals = (0..<1_000).map { index in
                    SampleAttempt(id: "id-\(index)", at: now - .seconds(index * 13), reason: index % 7 == 0 ? "network" : nil)
                }
                let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
                    for poster in 0..<8 {
                        let items = portion(poster, of: originals, now: now)
                        let api = servers[poster % 2].api
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
                try await withPool(database) { pool in
                    let ledger = Ledger(session: pool)
                    #expect(try await ledger.rows == 1_000)
                    #expect(try await ledger.found(Set(originals.map(\.id))) == 1_000)
                    #expect(accepted == 1_000, "each is accepted once, whoever asks")
                    try await ledger.expectConsistent()
                }
                for server in servers { #expect(try await server.terminate().code == 0) }
            }
        }

        @Test("two servers that start at once on an empty database, both with --migrate, both come up")
        func empty() async throws {
            try await withDatabaseURL(migrated: false) { database in
                async let first = ServerProcess.start(database: database, arguments: ["--migrate"])
                async let second = ServerProcess.start(database: database, arguments: ["--migrate"])
                let servers = try await [first, second]
                for server in servers { try await server.waitUntilReady() }
                for server in servers { #expect(try await server.terminate().code == 0) }
            }
        }

        /// Half of all attempts, so that eight posters send each four times; a third of them re-stamped by seconds to days.
        private func portion(_ poster: Int, of originals: [SampleAttempt], now: Timestamp) -> [SampleAttempt] {
            originals.enumerated().filter { $0.offset % 2 == (poster / 2) % 2 }.map { index, original in
                var copy = original
                if (index + poster) % 3 == 0 { copy.at = now - .seconds([3, 700, 40_000, 90_000, 400_000][(index + poster) % 5] + index) }
                return copy
            }.shuffled()
        }
    }
}
