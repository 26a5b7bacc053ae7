import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Rotating the ledger under load")
struct LedgerRotationTests {
    @Test("a rotation waits for the batch under way, so that the next one sees its ids, also re-stamped")
    func waitsForWriters() async throws {
        try await withAttempts { store in
            let batch = try Sample.batch([Sample.attempt("both")])
            try await store.pool.withConnection { first in
                try await first.executeScript("BEGIN")
                try await first.perform {
                    _ = try AttemptWriter.write(batch, on: $0, slot: 0, receivedAt: Sample.now)
                }
                // "Or is over": without its lock the rotation would not wait, and the test goes on to see what comes of it.
                let (isRotated, isAnswered) = (Flag(), Flag())
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await store.maintenance.rotateLedgerNow()
                        isRotated.raise()
                    }
                    try await store.waitFor("the rotation waits", or: isRotated) {
                        "SELECT count(*) >= 1 FROM pg_locks WHERE NOT granted AND relation = 'ledgerState'::regclass"
                    }
                    group.addTask {
                        let restamped = Sample.attempt("both", at: Sample.now - .seconds(86_400))
                        let results = try await store.write([restamped], slot: 1)
                        #expect(results == [.duplicate])
                        isAnswered.raise()
                    }
                    try await store.waitFor("the second batch waits", or: isAnswered) {
                        "SELECT count(*) >= 2 FROM pg_locks WHERE NOT granted AND relation = 'ledgerState'::regclass"
                    }
                    try await first.executeScript("COMMIT")
                    try await group.waitForAll()
                }
            }
            try await store.expectRollupsEqualRecount(total: 1)
        }
    }

    @Test("six writers with crossing ids and a rotation: each id once, nobody refused, no deadlock")
    func underLoad() async throws {
        try await withAttempts { store in
            try await store.maintenance.maintain()
            let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
                for writer in 0..<6 {
                    group.addTask {
                        var generator = SeededGenerator(seed: UInt64(writer))
                        var accepted = 0
                        for round in 0..<40 {
                            // The last 200 ids: nearly all of them somebody else's as well.
                            let ids = (0..<60).map { _ in round * 20 + Int.random(in: 0..<200, using: &generator) }
                            let attempts = ids.map {
                                Sample.attempt("r-\($0)", at: Sample.now - .seconds(Int64.random(in: 0..<170_000, using: &generator)))
                            }
                            accepted += try await store.write(attempts, slot: Int16(writer)).count { $0 == .accepted }
                        }
                        return accepted
                    }
                }
                group.addTask {
                    try await store.maintenance.rotateLedgerNow()
                    return 0
                }
                return try await group.reduce(0, +)
            }
            let distinct = try await store.pool.query("SELECT count(DISTINCT attemptId) FROM notificationDeliveryAttempts")[0].decode(
                Int.self
            )
            #expect(accepted == distinct)
            try await store.expectRollupsEqualRecount(total: distinct)
            #expect(try await store.fsck().faults == [])
        }
    }

    @Test("while a reader holds the oldest generation, the rotation is done all the same, and writers go on")
    func duringRead() async throws {
        try await withAttempts { store in
            let maintenance = PartitionMaintenance(
                pool: store.pool,
                clockTolerance: nil,
                waitLimit: .milliseconds(300),
                logger: .silent,
                now: { Sample.now }
            )
            try await store.pool.withConnection { reader in
                try await reader.executeScript("BEGIN ISOLATION LEVEL REPEATABLE READ")
                _ = try await reader.query("SELECT count(*) FROM attemptLedger")
                // So many that the first generation is due to go.
                for _ in 0..<8 { try await maintenance.rotateLedgerNow() }
                #expect(try await store.write([Sample.attempt("a")]) == [.accepted])
                try await maintenance.rotateLedgerNow()
                #expect(try await store.write([Sample.attempt("a")]) == [.duplicate])
                try await reader.executeScript("COMMIT")
            }
            for _ in 0..<8 { try await maintenance.rotateLedgerNow() }
            try await maintenance.maintain()
            let state = try await LedgerGenerations.read(on: store.pool)
            let standing = try await PartitionStatements.generations(on: store.pool)
            #expect(standing == Set((state.oldest...state.current + 1).map { "attemptledger_\($0)" }))
        }
    }
}
