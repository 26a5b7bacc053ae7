import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Shortcuts through the ledger change nothing")
struct LedgerHintsTests {
    private func attempts(_ range: Range<Int>, status: AttemptStatus = .sent) -> [Attempt] {
        range.map { Sample.attempt("h-\($0)", status: status) }
    }

    @Test("a filter forgets no key, and says perhaps to few others")
    func filter() {
        var filter = BloomFilter(capacity: 20_000)
        for number in 0..<20_000 { filter.insert(AttemptKey(attemptId: "in-\(number)")) }
        #expect((0..<20_000).allSatisfy { filter.mayContain(AttemptKey(attemptId: "in-\($0)")) })
        let wrong = (0..<20_000).count { filter.mayContain(AttemptKey(attemptId: "out-\($0)")) }
        #expect(wrong < 400)
        #expect(!BloomFilter(capacity: 0).mayContain(AttemptKey(attemptId: "x")))
    }

    @Test("a batch of new attempts, one that repeats some of them, one that repeats all")
    func duplicates() async throws {
        try await withAttempts { store in
            let hints = LedgerHints()
            #expect(try await store.write(attempts(0..<100), hints: hints).allSatisfy { $0 == .accepted })
            let batch = try Sample.batch(attempts(50..<150))
            let isWritten = try await store.pool.withConnection { connection in
                try await connection.perform { try FreshWriter(hints: hints, slot: 0).write(batch, receivedAt: Sample.now, on: $0) }
            }
            #expect(!isWritten && !hints.expectsNewKeys())
            let mixed = try await store.write(attempts(50..<150), hints: hints)
            #expect(mixed.prefix(50).allSatisfy { $0 == .duplicate } && mixed.suffix(50).allSatisfy { $0 == .accepted })
            #expect(try await store.write(attempts(0..<150), hints: hints).allSatisfy { $0 == .duplicate })
            let conflict = try await store.write(attempts(0..<20, status: .failed), hints: hints)
            #expect(conflict[0] == .conflict(stored: attempts(0..<1)[0]))
            try await store.expectRollupsEqualRecount(total: 150)
        }
    }

    @Test("ids of the frozen generation are found through its filter; a filter of before a rotation by others is not asked")
    func rotation() async throws {
        try await withAttempts { store in
            let hints = LedgerHints()
            let frozen = FrozenLedger(pool: store.pool, hints: hints, logger: .silent)
            try await frozen.refresh()
            _ = try await store.write(attempts(0..<50, status: .queued), hints: hints)
            // The filter at hand is of the empty generation before; asked, it would deny every key.
            try await store.rotate()
            #expect(try await store.write(attempts(0..<20, status: .queued), hints: hints).allSatisfy { $0 == .duplicate })
            try await frozen.refresh()
            let generations = try await store.pool.withConnection { try await $0.perform { try LedgerGenerations.read($0) } }
            #expect(hints.hasFilter(of: generations))
            #expect(try await store.write(attempts(0..<50), hints: hints).allSatisfy { $0 == .advanced })
            #expect(try await store.write(attempts(50..<100), hints: hints).allSatisfy { $0 == .accepted })
            try await store.expectRollupsEqualRecount(total: 100)
        }
    }

    @Test("the same batches from eight connections with one set of hints: each attempt once")
    func concurrent() async throws {
        try await withAttempts { store in
            let hints = LedgerHints()
            let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
                for queue in 0..<8 {
                    let own = attempts(0..<400).shuffled()
                    group.addTask {
                        var accepted = 0
                        for start in stride(from: 0, to: 400, by: 100) {
                            let part = Array(own[start..<start + 100])
                            accepted += try await store.write(part, slot: Int16(queue), hints: hints).count { $0 == .accepted }
                        }
                        return accepted
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(accepted == 400)
            try await store.expectRollupsEqualRecount(total: 400)
        }
    }
}
