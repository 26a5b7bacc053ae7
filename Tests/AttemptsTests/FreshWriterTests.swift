import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Batches written as all new")
struct FreshWriterTests {
    /// As the ingestor does: assumed new, else looked at.
    private func write(
        _ attempts: [Attempt],
        _ hints: LedgerHints,
        slot: Int16 = 0,
        to store: AttemptDatabase
    ) async throws -> [AttemptResult] {
        let batch = try Sample.batch(attempts)
        return try await store.pool.withConnection { connection in
            try await connection.perform { connection in
                var tries = 0
                while true {
                    // As often as a transaction is run again.
                    tries += 1
                    do {
                        if try FreshWriter(hints: hints, slot: slot).write(batch, receivedAt: Sample.now, on: connection) {
                            return Array(repeating: .accepted, count: batch.count)
                        }
                        return try connection.transaction {
                            try AttemptWriter.write(batch, on: $0, slot: slot, receivedAt: Sample.now, hints: hints)
                        }
                    } catch let error as PostgresError where error.isSerializationConflict && tries < 6 { continue }
                }
            }
        }
    }

    private func attempts(_ range: Range<Int>, status: AttemptStatus = .sent) -> [Attempt] {
        range.map { Sample.attempt("f-\($0)", status: status) }
    }

    private func learned(_ store: AttemptDatabase) async throws -> LedgerHints {
        let hints = LedgerHints()
        hints.record(try await store.pool.withConnection { try await $0.perform { try LedgerGenerations.read($0) } })
        return hints
    }

    /// Sizes below and above the change to COPY.
    private static let sizes = [1, 2, FreshWriter.copyRows - 1, FreshWriter.copyRows, 300]

    @Test("every field arrives as it was sent, by single statements and by COPY", arguments: sizes)
    func fields(count: Int) async throws {
        try await withAttempts { store in
            let hints = try await learned(store)
            var attempts = attempts(0..<count)
            for index in attempts.indices {
                attempts[index].providerErrorCode = index % 2 == 0 ? "a \"quoted\" {code}, ü" : nil
                attempts[index].environment = index % 3 == 0 ? .sandbox : nil
                attempts[index].latencyMs = index % 4 == 0 ? nil : Int32(index)
                attempts[index].sendId = index % 5 == 0 ? "NULL" : nil
                attempts[index].app = index % 6 == 5 ? nil : "app-\(index % 6)"
                attempts[index].appVersion = index % 7 == 0 ? "" + "1.0" : nil
            }
            let results = try await write(attempts, hints, to: store)
            #expect(results.allSatisfy { $0 == .accepted })
            let stored = AttemptStore(store.pool)
            for attempt in attempts { #expect(try await stored.find(attemptId: attempt.attemptId) == attempt) }
            try await store.expectRollupsEqualRecount(total: count)
        }
    }

    @Test("one known id, in this generation or the one before, and nothing is written until each is looked at", arguments: sizes)
    func known(count: Int) async throws {
        try await withAttempts { store in
            _ = try await store.write(attempts(0..<1))
            let repeated = try await write(attempts(0..<count), try await learned(store), to: store)
            #expect(repeated == [.duplicate] + Array(repeating: .accepted, count: count - 1))
            try await store.rotate()
            let hints = try await learned(store)
            let batch = try Sample.batch(attempts(0..<count + 1))
            let written = try await store.pool.withConnection { connection in
                try await connection.perform { try FreshWriter(hints: hints, slot: 0).write(batch, receivedAt: Sample.now, on: $0) }
            }
            #expect(!written)
            let results = try await write(attempts(0..<count + 1), hints, to: store)
            #expect(results == Array(repeating: .duplicate, count: count) + [.accepted])
            try await store.expectRollupsEqualRecount(total: count + 1)
        }
    }

    @Test("what cannot be counted is not stored: attempts, ledger and rollups are one transaction", arguments: sizes)
    func oneTransaction(count: Int) async throws {
        try await withAttempts { store in
            let hints = try await learned(store)
            // The counts of the month have nowhere to go.
            try await store.pool.execute("DROP TABLE attemptRollups_202603")
            await #expect(throws: PostgresError.self) { try await write(attempts(0..<count), hints, to: store) }
            #expect(try await store.pool.query("SELECT count(*) FROM notificationDeliveryAttempts")[0].decode(Int.self) == 0)
            #expect(try await store.pool.query("SELECT count(*) FROM attemptLedger")[0].decode(Int.self) == 0)
        }
    }

    @Test("generations that another instance has rotated meanwhile are noticed", arguments: sizes)
    func rotatedMeanwhile(count: Int) async throws {
        try await withAttempts { store in
            let hints = try await learned(store)
            #expect(try await write(attempts(0..<count), hints, to: store).allSatisfy { $0 == .accepted })
            try await store.rotate()
            // Its generations are those of before: the keys would go where nobody looks for long.
            #expect(try await write(attempts(0..<count), hints, to: store).allSatisfy { $0 == .duplicate })
            #expect(try await write(attempts(count..<2 * count), hints, to: store).allSatisfy { $0 == .accepted })
            let misplaced = try await store.pool.query(
                "SELECT count(*) FROM attemptLedger JOIN ledgerState ON generation = currentGeneration - 1 WHERE id = 1"
            )[0].decode(Int.self)
            #expect(misplaced == count)
            try await store.expectRollupsEqualRecount(total: 2 * count)
        }
    }

    @Test("the same ids from eight connections while generations rotate: each once, rollups equal a recount", arguments: [1, 7, 40])
    func concurrent(size: Int) async throws {
        try await withAttempts { store in
            let hints = try await learned(store)
            let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
                for queue in 0..<8 {
                    let own = attempts(0..<280).shuffled()
                    group.addTask {
                        var accepted = 0
                        for start in stride(from: 0, to: 280, by: size) {
                            let part = Array(own[start..<min(280, start + size)])
                            accepted += try await write(part, hints, slot: Int16(queue), to: store).count { $0 == .accepted }
                        }
                        return accepted
                    }
                }
                group.addTask {
                    // Once: what the generation before that knew would be forgotten.
                    try await store.rotate()
                    return 0
                }
                return try await group.reduce(0, +)
            }
            #expect(accepted == 280)
            try await store.expectRollupsEqualRecount(total: 280)
        }
    }
}
