import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Compacting the counts of past hours")
struct RollupCompactionTests {
    private static let hour = Timestamp(rfc3339: "2026-03-10T10:00:00Z")!

    private func attempts(_ range: Range<Int>, status: AttemptStatus = .sent) -> [Attempt] {
        range.map { Sample.attempt("c-\($0)", status: status, at: Self.hour + .seconds(Int64($0 % 60) * 60)) }
    }

    private func slots(_ store: AttemptDatabase) async throws -> [Int] {
        try await store.pool.query(
            """
            SELECT DISTINCT writerSlot::bigint
            FROM (SELECT writerSlot FROM attemptRollups UNION SELECT writerSlot FROM attemptLatencies) AS s
            ORDER BY 1
            """
        ).map { try $0.decode(Int.self) }
    }

    @Test("what writers of many slots have counted becomes one row for each minute and dimension, in a round of the maintenance")
    func round() async throws {
        try await withAttempts { store in
            for slot in 0..<6 { _ = try await store.write(attempts(slot * 20..<slot * 20 + 60, status: .queued), slot: Int16(slot)) }
            for slot in 6..<9 { _ = try await store.write(attempts(0..<100), slot: Int16(slot)) }
            try await store.maintenance.maintain()
            #expect(try await slots(store) == [-1])
            let (rows, combinations) = try await store.pool.query(
                "SELECT count(*), count(DISTINCT (minute, status)) FROM attemptRollups"
            )[0].decode((Int, Int).self)
            #expect(rows == combinations)
            #expect(try await store.pool.query("SELECT count(*) FROM attemptRollups WHERE attempts = 0")[0].decode(Int.self) == 0)
            try await store.expectRollupsEqualRecount(total: 160)
            #expect(try await store.fsck().faults == [])
            // Late ones are added to.
            _ = try await store.write(attempts(100..<400), slot: 3)
            try await store.maintenance.maintain()
            #expect(try await slots(store) == [-1])
            try await store.expectRollupsEqualRecount(total: 400)
        }
    }

    @Test("with eight writers of late reports and two compacting instances no count is lost or doubled, in any snapshot")
    func concurrent() async throws {
        try await withAttempts { store in
            let isDone = Flag()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        while !isDone.isRaised {
                            try await RollupCompaction(pool: store.pool).compact(hour: Self.hour)
                            let wrong = try await store.pool.query(
                                """
                                SELECT (SELECT sum(attempts) FROM attemptRollups) IS DISTINCT FROM
                                    nullif((SELECT count(*) FROM notificationDeliveryAttempts), 0)
                                """
                            )
                            // Several nodes have no snapshot in common.
                            #expect(try wrong[0].decode(Bool.self) == false || TestEngine.isDistributed)
                        }
                    }
                }
                try await withThrowingTaskGroup(of: Void.self) { writers in
                    for slot in 0..<8 {
                        writers.addTask {
                            for part in 0..<12 {
                                let ids = (slot * 12 + part) * 40..<(slot * 12 + part) * 40 + 40
                                _ = try await store.write(attempts(ids, status: .queued), slot: Int16(slot % 4))
                                _ = try await store.write(attempts(ids), slot: Int16((slot + 1) % 4))
                            }
                        }
                    }
                    try await writers.waitForAll()
                }
                isDone.raise()
                try await group.waitForAll()
            }
            try await RollupCompaction(pool: store.pool).compact(hour: Self.hour)
            #expect(try await slots(store) == [-1])
            try await store.expectRollupsEqualRecount(total: 8 * 12 * 40)
        }
    }

    @Test("each hour of the days that attempts are kept has its turn, and none that is not over")
    func hours() {
        let days: Int64 = 16
        var seen: Set<Timestamp> = []
        for round in 0..<Int64(16 * 24 / 4 + 6) {
            let now = Sample.now + .seconds(round * 600)
            let hours = RollupCompaction.hours(now: now, round: .seconds(600), days: days)
            #expect(hours.allSatisfy { $0 + .seconds(7200) <= now && $0.seconds % 3600 == 0 })
            seen.formUnion(hours)
        }
        let oldest = Sample.now - .seconds((days - 1) * 86_400)
        let missing = (0..<(days - 1) * 24 - 2).map { oldest + .seconds($0 * 3600) }.filter { !seen.contains($0) }
        #expect(missing.count <= 16 * 24 / 20, "\(missing)")
    }
}
