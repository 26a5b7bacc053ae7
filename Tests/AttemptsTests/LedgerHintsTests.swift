import Foundation
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Attempts

@Suite("Shortcuts through the ledger change nothing")
struct LedgerHintsTests {
    private func attempts(_ range: Range<Int>, status: AttemptStatus = .sent) -> [Attempt] {
        range.map { Sample.attempt("h-\($0)", status: status) }
    }

    @Test("a filter forgets no key, and says perhaps to one other key in 500 at most")
    func filter() {
        let filter = BloomFilter(capacity: 20_000)
        for number in 0..<20_000 { filter.insert(AttemptKey(attemptId: "in-\(number)")) }
        #expect(filter.bytes.count >= 2 * 20_000)
        #expect((0..<20_000).allSatisfy { filter.mayContain(AttemptKey(attemptId: "in-\($0)")) })
        let wrong = (0..<20_000).count { filter.mayContain(AttemptKey(attemptId: "out-\($0)")) }
        #expect(wrong < 40)
        #expect(!BloomFilter(capacity: 0).mayContain(AttemptKey(attemptId: "x")))
    }

    @Test("with hints new attempts are accepted and repeated ones are duplicates, in batches of new, of both and of repeated ones")
    func duplicates() async throws {
        try await withAttempts { store in
            let hints = LedgerHints()
            #expect(try await store.write(attempts(0..<100), hints: hints) == Array(repeating: .accepted, count: 100))
            let batch = try Sample.batch(attempts(50..<150))
            let expectation = KeyExpectation()
            let isWritten = try await store.pool.withConnection { connection in
                try await connection.perform {
                    try FreshWriter(hints: hints, slot: 0, expectation: expectation).write(batch, receivedAt: Sample.now, on: $0)
                }
            }
            #expect(!isWritten && !expectation.expectsNewKeys())
            let mixed = try await store.write(attempts(50..<150), hints: hints)
            #expect(mixed == [AttemptResult](repeating: .duplicate, count: 50) + [AttemptResult](repeating: .accepted, count: 50))
            #expect(try await store.write(attempts(0..<150), hints: hints) == Array(repeating: .duplicate, count: 150))
            let conflict = try await store.write(attempts(0..<20, status: .failed), hints: hints)
            #expect(conflict[0] == .conflict(stored: attempts(0..<1)[0]))
            try await store.expectRollupsEqualRecount(total: 150)
        }
    }

    @Test("ids of each frozen generation are found through its filter; filters of before a rotation by others miss none")
    func rotation() async throws {
        try await withAttempts { store in
            let hints = LedgerHints()
            let frozen = FrozenLedger(pool: store.pool, hints: hints, logger: .silent)
            try await store.maintenance.maintain()
            try await frozen.refresh()
            for day in 0..<8 {
                let part = day * 10..<day * 10 + 10
                #expect(try await store.write(attempts(part, status: .queued), hints: hints) == Array(repeating: .accepted, count: 10))
                // The filters at hand are of the generations before; asked alone, they would deny these keys.
                try await store.rotate()
                #expect(try await store.write(attempts(part, status: .queued), hints: hints) == Array(repeating: .duplicate, count: 10))
                if day % 3 == 2 { try await frozen.refresh() }
            }
            try await frozen.refresh()
            let generations = try await LedgerGenerations.read(on: store.pool)
            #expect(generations.frozen.count == 8 && generations.frozen.allSatisfy(hints.hasFilter))
            #expect(hints.suspects((0..<100).map { AttemptKey(attemptId: "new-\($0)") }, of: generations).keys.count < 10)
            #expect(try await store.write(attempts(0..<80), hints: hints) == Array(repeating: .advanced, count: 80))
            #expect(try await store.write(attempts(80..<130), hints: hints) == Array(repeating: .accepted, count: 50))
            try await store.expectRollupsEqualRecount(total: 130)
            #expect(try await store.fsck().faults == [])
        }
    }

    @Test("an id whose generation has left the ledger is found among the attempts, whatever clock lets it in")
    func olderThanLedger() async throws {
        try await withAttempts { store in
            let hints = LedgerHints()
            let old = [Sample.attempt("old", at: Sample.now - .seconds(86_400))]
            #expect(try await store.write(old, hints: hints) == [.accepted])
            for _ in 0..<9 { try await store.rotate() }
            #expect(try await !PartitionStatements.generations(on: store.pool).contains("attemptledger_1"))
            // Eight days on by the ledger's clock; one that is wrong lets the same report in.
            try await store.pool.execute("UPDATE ledgerState SET frozenAt = ARRAY[\(Sample.now + .seconds(8 * 86_400))]")
            hints.record(try await LedgerGenerations.read(on: store.pool))
            let batch = try Sample.batch(old)
            let isWritten = try await store.pool.withConnection { connection in
                try await connection.perform { try FreshWriter(hints: hints, slot: 0).write(batch, receivedAt: Sample.now, on: $0) }
            }
            #expect(!isWritten)
            #expect(try await store.write(old, hints: hints) == [.duplicate])
            try await store.expectRollupsEqualRecount(total: 1)
        }
    }

    /// Each test's own directory, removed afterwards.
    private func withCache(_ body: (FilterCache) async throws -> Void) async throws {
        let cache = FilterCache(directory: NSTemporaryDirectory() + "pushwatch-filters-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(atPath: cache.directory) }
        try await body(cache)
    }

    private func frozen(_ store: AttemptDatabase, _ hints: LedgerHints, _ cache: FilterCache, mostBytes: Int = 1 << 30) -> FrozenLedger {
        var limits = LedgerFilterLimits()
        limits.directory = cache.directory
        limits.mostBytes = mostBytes
        return FrozenLedger(pool: store.pool, hints: hints, limits: limits, logger: .silent)
    }

    @Test("a filter is made from the table once; afterwards it comes from its file, and a damaged or foreign file counts as missing")
    func cache() async throws {
        try await withAttempts { store in
            try await withCache { cache in
                _ = try await store.write(attempts(0..<50))
                try await store.rotate()
                let generations = try await LedgerGenerations.read(on: store.pool)
                try await frozen(store, LedgerHints(), cache).refresh()
                let (path, newest) = (cache.path(generations.frozen[0]), generations.frozen[0])
                #expect(await cache.load(newest, space: 1 << 30)?.count == 50)
                #expect(await cache.load(newest, space: 1000) == nil)
                // The table is not read again: it has nothing now, and the filter still knows the keys.
                try await store.pool.execute("DELETE FROM attemptLedger WHERE generation = \(newest.number)")
                let hints = LedgerHints()
                try await frozen(store, hints, cache).refresh()
                #expect(hints.suspects(attempts(0..<50).map { AttemptKey(attemptId: $0.attemptId) }, of: generations).keys.count == 50)

                var other = newest
                other.frozenAt = newest.frozenAt + .microseconds(1)
                try FileManager.default.copyItem(atPath: path, toPath: cache.path(other))
                #expect(await cache.load(other, space: 1 << 30) == nil)
                let whole = try Data(contentsOf: URL(fileURLWithPath: path))
                for damaged in [whole.dropLast(), whole + [0], whole.flipped(at: 20), whole.flipped(at: 5000), whole.prefix(10), Data()] {
                    try Data(damaged).write(to: URL(fileURLWithPath: path))
                    #expect(await cache.load(newest, space: 1 << 30) == nil)
                }
                let repaired = LedgerHints()
                try await frozen(store, repaired, cache).refresh()
                #expect(repaired.hasFilter(of: newest))
                #expect(await cache.load(newest, space: 1 << 30)?.count == 0)
            }
        }
    }

    @Test("a directory that cannot be written is a cause in words")
    func unwritableCache() async throws {
        try await withCache { cache in
            let generation = FrozenGeneration(number: 1, frozenAt: .now())
            // A directory in the place of the unfinished file: permissions do not stop root.
            let unfinished = cache.path(generation) + ".\(ProcessInfo.processInfo.processIdentifier)"
            try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
            let error = await #expect(throws: POSIXError.self) { try await cache.store(BloomFilter(capacity: 10), generation) }
            #expect(error.map { FileFault.cause(of: $0) } == "Is a directory")
        }
    }

    @Test("where another process makes the filters of a shared directory, this one does not; files of past generations go")
    func sharedCache() async throws {
        try await withAttempts { store in
            try await withCache { cache in
                try await store.rotate()
                let generations = try await LedgerGenerations.read(on: store.pool)
                let hints = LedgerHints()
                let isDone = try await cache.locked {
                    try await frozen(store, hints, cache).refresh()
                    #expect(!generations.frozen.contains(where: hints.hasFilter))
                }
                #expect(isDone)
                let past = FrozenGeneration(number: 7, frozenAt: Sample.now - .seconds(9 * 86_400))
                try await cache.store(BloomFilter(capacity: 10), past)
                #expect(await cache.load(past, space: 1 << 20) != nil)
                try await frozen(store, hints, cache).refresh()
                #expect(generations.frozen.allSatisfy(hints.hasFilter))
                #expect(await cache.load(past, space: 1 << 20) == nil)
            }
        }
    }

    @Test("beyond the memory for filters keys are looked up: said once, counted, and every id still once")
    func memory() async throws {
        try await withAttempts { store in
            try await withCache { cache in
                _ = try await store.write(attempts(0..<20))
                try await store.rotate()
                _ = try await store.write(attempts(20..<40))
                try await store.rotate()
                let generations = try await LedgerGenerations.read(on: store.pool)
                let hints = LedgerHints()
                try await frozen(store, LedgerHints(), cache).refresh()
                // One filter has space.
                let tight = frozen(store, hints, cache, mostBytes: 9 << 10)
                try await tight.refresh()
                #expect(generations.frozen.map(hints.hasFilter) == [true, false, false])
                #expect(generations.frozen.allSatisfy { !hints.needsFilter(of: $0) } && hints.takeLeftOut().isEmpty)
                let new = (0..<30).map { AttemptKey(attemptId: "new-\($0)") }
                let suspects = hints.suspects(new, of: generations)
                #expect(suspects.keys.count == 30 && suspects.generations == generations.frozen.dropFirst().map(\.number))
                #expect(try await store.write(attempts(0..<60), hints: hints).count { $0 == .duplicate } == 40)
                // What was left out has space when the memory of others is freed.
                try await store.rotate()
                try await store.pool.execute("UPDATE ledgerState SET frozenAt = ARRAY[frozenAt[1]]")
                hints.forgetOthers(of: try await LedgerGenerations.read(on: store.pool))
                #expect(hints.filterBytes == 0)
            }
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

extension Data {
    fileprivate func flipped(at index: Int) -> Data {
        var data = self
        data[index] ^= 0x10
        return data
    }
}
