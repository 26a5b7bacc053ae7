import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Batches written as all new")
struct FreshWriterTests {
    /// Assumed new, else looked at: in transactions of their own, as the ingestor does, or in one of the caller's, as sends do.
    private func write(
        _ attempts: [Attempt],
        _ hints: LedgerHints,
        slot: Int16 = 0,
        isNested: Bool = false,
        to store: AttemptDatabase
    ) async throws -> [AttemptResult] {
        let batch = try Sample.batch(attempts)
        return try await store.pool.withConnection { connection in
            try await connection.perform { connection in
                var tries = 0
                while true {
                    // A partition may be seen a moment after what was committed with it.
                    tries += 1
                    func writeFresh() throws -> [AttemptResult]? {
                        let isWritten = try FreshWriter(hints: hints, slot: slot).write(batch, receivedAt: Sample.now, on: connection)
                        return isWritten ? Array(repeating: .accepted, count: batch.count) : nil
                    }
                    func writeKnown() throws -> [AttemptResult] {
                        try AttemptWriter.write(batch, on: connection, slot: slot, receivedAt: Sample.now, hints: hints)
                    }
                    do {
                        if isNested { return try connection.transaction { _ in try writeFresh() ?? writeKnown() } }
                        return try writeFresh() ?? connection.transaction { _ in try writeKnown() }
                    } catch let error as PostgresError where error.isSerializationConflict && tries < 100 { continue }
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
    private static let sizes = [1, 2, CopyStream.minimumRows - 1, CopyStream.minimumRows, 300]

    @Test("every field arrives as it was sent, by single statements and by COPY", arguments: sizes, [false, true])
    func fields(count: Int, isNested: Bool) async throws {
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
            let results = try await write(attempts, hints, isNested: isNested, to: store)
            #expect(results == Array(repeating: .accepted, count: count))
            let stored = AttemptStore(store.pool)
            for attempt in attempts { #expect(try await stored.find(attemptId: attempt.attemptId) == attempt) }
            try await store.expectRollupsEqualRecount(total: count)
        }
    }

    @Test(
        "one known id, in this generation or the one before, and nothing is written until each is looked at",
        arguments: sizes,
        [false, true]
    )
    func known(count: Int, isNested: Bool) async throws {
        try await withAttempts { store in
            // At another moment, so that the ledger alone knows it.
            var known = Sample.attempt("f-0")
            known.attemptedAt = known.attemptedAt - .seconds(60)
            _ = try await store.write([known])
            let repeated = try await write(attempts(0..<count), try await learned(store), isNested: isNested, to: store)
            #expect(repeated == [.duplicate] + Array(repeating: .accepted, count: count - 1))
            try await store.rotate()
            let hints = try await learned(store)
            let batch = try Sample.batch(attempts(0..<count + 1))
            let written = try await store.pool.withConnection { connection in
                try await connection.perform { try FreshWriter(hints: hints, slot: 0).write(batch, receivedAt: Sample.now, on: $0) }
            }
            #expect(!written)
            let results = try await write(attempts(0..<count + 1), hints, isNested: isNested, to: store)
            #expect(results == Array(repeating: .duplicate, count: count) + [.accepted])
            try await store.expectRollupsEqualRecount(total: count + 1)
        }
    }

    @Test("what cannot be counted is not stored: attempts, ledger and rollups are one transaction", arguments: sizes, [false, true])
    func oneTransaction(count: Int, isNested: Bool) async throws {
        // The counts of the month have nowhere to go.
        try await nothingIsWritten(count: count, isNested: isNested, without: "attemptRollups_202603")
    }

    @Test("what cannot be stored is not counted", arguments: sizes, [false, true])
    func storedAndCounted(count: Int, isNested: Bool) async throws {
        let day = try #require(attempts(0..<1).first).attemptedAt.minute / 1440
        try await nothingIsWritten(count: count, isNested: isNested, without: PartitionPlan.fact(day: day).name)
    }

    private func nothingIsWritten(count: Int, isNested: Bool, without partition: String) async throws {
        try await withAttempts { store in
            let hints = try await learned(store)
            try await store.pool.execute("DROP TABLE \(raw: partition)")
            let error = await #expect(throws: PostgresError.self) {
                try await write(attempts(0..<count), hints, isNested: isNested, to: store)
            }
            // Citus says no more than that a table of the attempts has no shard.
            #expect(error?.isMissingPartition == true || TestEngine.isDistributed && error?.code == .internalError)
            for table in ["notificationDeliveryAttempts", "attemptLedger", "attemptRollups"] {
                #expect(try await store.pool.query("SELECT count(*) FROM \(raw: table)")[0].decode(Int.self) == 0, "\(table)")
            }
        }
    }

    @Test("generations that another instance has rotated meanwhile are noticed", arguments: sizes, [false, true])
    func rotatedMeanwhile(count: Int, isNested: Bool) async throws {
        try await withAttempts { store in
            let hints = try await learned(store)
            #expect(try await write(attempts(0..<count), hints, isNested: isNested, to: store) == Array(repeating: .accepted, count: count))
            try await store.rotate()
            // Its generations are those of before: the keys would go where nobody looks for long.
            let again = try await write(attempts(0..<count), hints, isNested: isNested, to: store)
            #expect(again == Array(repeating: .duplicate, count: count))
            let later = try await write(attempts(count..<2 * count), hints, isNested: isNested, to: store)
            #expect(later == Array(repeating: .accepted, count: count))
            let misplaced = try await store.pool.query(
                "SELECT count(*) FROM attemptLedger JOIN ledgerState ON generation = currentGeneration - 1 WHERE id = 1"
            )[0].decode(Int.self)
            #expect(misplaced == count)
            try await store.expectRollupsEqualRecount(total: 2 * count)
        }
    }

    @Test("in a transaction of the caller's, what it did before stays when an id is known, and its own fault is not taken for one")
    func caller() async throws {
        try await withAttempts { store in
            let hints = try await learned(store)
            _ = try await store.write(attempts(0..<1))
            let batch = try Sample.batch(attempts(0..<20))
            func write(_ before: Query) async throws {
                try await store.pool.performTransaction { connection in
                    try connection.executeLater(before)
                    #expect(try !FreshWriter(hints: hints, slot: 0).write(batch, receivedAt: Sample.now, on: connection))
                }
            }
            try await write("CREATE TABLE before AS SELECT 1 AS number")
            #expect(try await store.pool.query("SELECT count(*) FROM before")[0].decode(Int.self) == 1)
            #expect(try await store.pool.query("SELECT count(*) FROM attemptLedger")[0].decode(Int.self) == 1)
            try await store.pool.execute("CREATE UNIQUE INDEX ON before (number)")
            let error = await #expect(throws: PostgresError.self) { try await write("INSERT INTO before VALUES (1)") }
            #expect(error?.code == .uniqueViolation && error?.constraint == "before_number_idx")
        }
    }

    @Test(
        "the same ids from eight connections while generations rotate: each once, rollups equal a recount",
        arguments: [1, 7, 40],
        [false, true]
    )
    func concurrent(size: Int, isNested: Bool) async throws {
        try await withAttempts { store in
            let hints = try await learned(store)
            let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
                for queue in 0..<8 {
                    let own = attempts(0..<280).shuffled()
                    group.addTask {
                        var accepted = 0
                        for start in stride(from: 0, to: 280, by: size) {
                            let part = Array(own[start..<min(280, start + size)])
                            accepted += try await write(part, hints, slot: Int16(queue), isNested: isNested, to: store).count {
                                $0 == .accepted
                            }
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
