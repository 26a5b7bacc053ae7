import Logging
import Postgres
import PushContract
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import Attempts

@Suite("Keeping partitions")
struct PartitionMaintenanceTests {
    private func maintenance(_ pool: PostgresPool, plan: PartitionPlan = PartitionPlan(), at moment: Timestamp) -> PartitionMaintenance {
        PartitionMaintenance(pool: pool, plan: plan, clockTolerance: nil, waitLimit: .milliseconds(300), logger: .silent, now: { moment })
    }

    /// The last and the first second around the edges that calendars have, and those that only zones have.
    static let edges = [
        "2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00Z", "2028-02-28T23:59:59Z", "2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z",
        "2027-02-28T23:59:59Z", "2026-04-30T23:59:59Z", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-10-25T00:59:59Z",
        "2026-11-01T05:59:59Z", "2100-02-28T23:59:59Z",
    ]

    @Test("at every edge of the calendar there is a partition for each moment that is accepted, and no gap", arguments: edges)
    func edge(_ text: String) async throws {
        let now = try #require(Timestamp(rfc3339: text))
        try await withDatabase { pool in
            // Whoever runs the database may set its zone; days are UTC all the same.
            let name = try await pool.query("SELECT current_database()::text")[0].decode(String.self)
            try await pool.execute("ALTER DATABASE \(raw: name) SET timezone = 'America/New_York'")
            let maintenance = maintenance(pool, at: now)
            try await maintenance.maintain()
            let partitions = try await FsckPartitions.read(on: pool)
            #expect(partitions.faults(plan: PartitionPlan(), countedDays: [], now: now).map(\.text) == [])
            #expect(partitions.facts.count == 14)
            let store = AttemptDatabase(pool: pool, maintenance: maintenance)
            let window = AcceptanceWindow.live(now: now)
            let moments = [window.earliest, now, window.latest]
            let attempts = moments.enumerated().map { Sample.attempt("edge-\($0.offset)", at: $0.element) }
            #expect(try await store.write(attempts) == [.accepted, .accepted, .accepted])
            try await store.expectRollupsEqualRecount(total: 3)
        }
    }

    /// Says how long it was to sleep, and sleeps until it is cancelled.
    private struct SleepingClock: Clock {
        let slept: AsyncStream<Duration>.Continuation

        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            slept.yield(deadline - .now)
            try await Task.sleep(for: .seconds(86_400))
        }
    }

    @Test("its service begins a minute after the start, which has made the first round")
    func initialDelay() async throws {
        try await withDatabase { pool in
            let (sleeps, slept) = AsyncStream<Duration>.makeStream()
            let maintenance = PartitionMaintenance(pool: pool, logger: .silent, clock: SleepingClock(slept: slept))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await maintenance.run() }
                let first = await sleeps.first { _ in true }
                #expect(first.map { $0 <= .seconds(60) } == true)
                let made = try await FsckPartitions.read(on: pool).facts
                #expect(made.isEmpty)
                group.cancelAll()
            }
        }
    }

    @Test("six keepers at once, over two days: the same partitions as one alone")
    func several() async throws {
        try await withDatabase { pool in
            for day in [0, 1] as [Int64] {
                let now = Sample.now + .seconds(day * 86_400)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        let maintenance = maintenance(pool, at: now)
                        group.addTask { try await maintenance.maintain() }
                    }
                    try await group.waitForAll()
                }
                let partitions = try await FsckPartitions.read(on: pool)
                #expect(partitions.faults(plan: PartitionPlan(), countedDays: [], now: now).map(\.text) == [])
                #expect(partitions.facts.count == 14 + Int(day))
            }
        }
    }

    @Test("a migrator that grants while partition maintenance makes the first partition waits for it, and neither fails")
    func migratorTakesTurns() async throws {
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url), logger: .silent)
            defer { pool.close() }
            let day = PartitionPlan.fact(day: Sample.now.day)
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await pool.withTransaction { transaction in
                    try await SchemaLock.acquire(on: transaction)
                    try await PartitionStatements.create(
                        day,
                        of: "notificationDeliveryAttempts",
                        column: "attemptedAt",
                        on: transaction
                    )
                    group.addTask { try await migrate(url) }
                    try await AttemptDatabase(pool: pool, maintenance: maintenance(pool, at: Sample.now)).waitFor("the migrator waits") {
                        """
                        SELECT count(*) = 1 FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'pushwatch migrate'
                        """
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await PartitionStatements.names(on: pool) == [day.name.lowercased()])
        }
    }

    @Test("six keepers when the ledger is due: one rotation, and no generation without its partition")
    func severalRotations() async throws {
        try await withDatabase { pool in
            let start = try await LedgerGenerations.read(on: pool)
            let due = start.rotatedAt + .seconds(86_400)
            for round in 1...10 {
                let now = due + .seconds(Int64(round - 1) * 86_400)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        let maintenance = maintenance(pool, at: now)
                        group.addTask { try await maintenance.maintain() }
                    }
                    try await group.waitForAll()
                }
                let state = try await LedgerGenerations.read(on: pool)
                #expect(state.current == start.current + Int32(round) && state.frozen.count == min(8, round + 1))
                let standing = try await PartitionStatements.generations(on: pool)
                let needed = (state.oldest...state.current + 1).map { "attemptledger_\($0)" }
                #expect(standing.isSuperset(of: needed))
            }
            try await maintenance(pool, at: due).maintain()
            #expect(try await PartitionStatements.generations(on: pool).count == 10)
        }
    }

    @Test("what is past its retention goes: attempts after 90 days, rollups after 400")
    func retention() async throws {
        try await withDatabase { pool in
            let days = [90, 91, 399, 460].map { Sample.now.day - $0 }
            try await maintenance(pool, at: Sample.now).ensurePartitions(forDays: Set(days))
            try await maintenance(pool, at: Sample.now).maintain()
            let names = try await PartitionStatements.names(on: pool)
            #expect(names.contains(PartitionPlan.fact(day: days[0]).name.lowercased()))
            #expect(!names.contains(PartitionPlan.fact(day: days[1]).name.lowercased()))
            #expect(names.contains(PartitionPlan.rollup(day: days[2]).name.lowercased()))
            #expect(!names.contains(PartitionPlan.rollup(day: days[3]).name.lowercased()))
            #expect(names.contains(PartitionPlan.rollup(day: days[2]).latencies.name.lowercased()))
            #expect(!names.contains(PartitionPlan.rollup(day: days[3]).latencies.name.lowercased()))
            let tables = try await pool.query(
                "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'notificationdeliveryattempts_2025%'"
            )
            #expect(try tables[0].decode(Int.self) == 1, "dropped, not only detached")
        }
    }

    @Test("a retention of one's own holds for attempts and for counts, and fsck agrees with it")
    func otherRetention() async throws {
        try await withDatabase { pool in
            var plan = PartitionPlan()
            (plan.factRetentionDays, plan.rollupRetentionDays) = (20, 60)
            let days = [20, 21, 59, 120].map { Sample.now.day - $0 }
            try await maintenance(pool, at: Sample.now).ensurePartitions(forDays: Set(days))
            try await maintenance(pool, plan: plan, at: Sample.now).maintain()
            let names = try await PartitionStatements.names(on: pool)
            #expect(names.contains(PartitionPlan.fact(day: days[0]).name.lowercased()))
            #expect(!names.contains(PartitionPlan.fact(day: days[1]).name.lowercased()))
            #expect(names.contains(PartitionPlan.rollup(day: days[2]).name.lowercased()))
            #expect(!names.contains(PartitionPlan.rollup(day: days[3]).name.lowercased()))
            let partitions = try await FsckPartitions.read(on: pool)
            #expect(partitions.faults(plan: plan, countedDays: [], now: Sample.now).map(\.text) == [])
            plan.factRetentionDays = 16
            #expect(partitions.faults(plan: plan, countedDays: [], now: Sample.now).count == 1, "one day should be gone")
        }
    }

    @Test("a table that somebody detached to keep it is not dropped, however old")
    func keptByHand() async throws {
        try await withDatabase { pool in
            let day = Sample.now.day - 200
            try await maintenance(pool, at: Sample.now).ensurePartitions(forDays: [day])
            let name = PartitionPlan.fact(day: day).name
            try await pool.execute("ALTER TABLE notificationDeliveryAttempts DETACH PARTITION \(raw: name)")
            try await maintenance(pool, at: Sample.now).maintain()
            #expect(try await pool.query("SELECT to_regclass(\(name))::text IS NOT NULL")[0].decode(Bool.self))
        }
    }

    @Test("a recent day that was detached by hand is named; the round makes the other days, rotates and drops; renamed, it is made again")
    func recentByHand() async throws {
        let log = RecordingLog { $0.level == .error }
        try await withDatabase { pool in
            let start = try await LedgerGenerations.read(on: pool)
            let due = start.rotatedAt + .seconds(86_400)
            try await maintenance(pool, at: start.rotatedAt).maintain()
            let detached = PartitionPlan.fact(day: due.day - 1).name
            let (ahead, expired) = (PartitionPlan.fact(day: due.day + 5).name, PartitionPlan.fact(day: due.day - 100).name)
            try await maintenance(pool, at: due).ensurePartitions(forDays: [due.day - 100])
            try await pool.execute("ALTER TABLE notificationDeliveryAttempts DETACH PARTITION \(raw: detached)")
            let round = PartitionMaintenance(pool: pool, clockTolerance: nil, logger: log.logger, now: { due })
            let fault = await #expect(throws: PostgresError.self) { try await round.maintain() }
            #expect(fault?.code == .duplicateTable && fault?.message.contains("attach it again or rename it") == true)
            #expect(log.events.map { "\($0.metadata?["partition"] ?? "")" } == [detached])
            #expect(try await LedgerGenerations.read(on: pool).current == start.current + 1)
            let names = try await PartitionStatements.names(on: pool)
            #expect(names.contains(ahead.lowercased()) && !names.contains(expired.lowercased()))

            try await pool.execute("ALTER TABLE \(raw: detached) RENAME TO keptDay")
            try await round.maintain()
            #expect(try await PartitionStatements.names(on: pool).contains(detached.lowercased()))
        }
    }

    @Test(
        "a table that a round could not detach is kept when somebody detaches it by hand afterwards",
        .disabled(if: TestEngine.isDistributed, "distributed tables are locked with their partitions")
    )
    func keptAfterFailure() async throws {
        try await withDatabase { pool in
            let maintenance = maintenance(pool, at: Sample.now)
            try await maintenance.maintain()
            let day = Sample.now.day - 200
            try await maintenance.ensurePartitions(forDays: [day])
            try await pool.withTransaction { transaction in
                // The detaching waits for this in vain.
                try await transaction.execute("LOCK TABLE ONLY notificationDeliveryAttempts IN SHARE UPDATE EXCLUSIVE MODE")
                try await maintenance.maintain()
            }
            try await expectKept(day, maintenance, pool)
        }
    }

    @Test("a table that a killed process has marked is kept when its retention became longer and somebody detaches it by hand")
    func keptAfterKill() async throws {
        try await withDatabase { pool in
            let maintenance = maintenance(pool, at: Sample.now)
            let day = Sample.now.day - 50
            try await maintenance.ensurePartitions(forDays: [day])
            try await pool.execute("COMMENT ON TABLE \(raw: PartitionPlan.fact(day: day).name) IS '\(raw: PartitionRetirement.mark)'")
            try await maintenance.maintain()
            try await expectKept(day, maintenance, pool)
        }
    }

    /// Of a day that is a partition still: detached by hand, it outlasts the next round.
    private func expectKept(_ day: Int64, _ maintenance: PartitionMaintenance, _ pool: PostgresPool) async throws {
        let name = PartitionPlan.fact(day: day).name
        #expect(try await PartitionStatements.names(on: pool).contains(name.lowercased()))
        try await pool.execute("ALTER TABLE notificationDeliveryAttempts DETACH PARTITION \(raw: name)")
        try await maintenance.maintain()
        #expect(try await pool.query("SELECT to_regclass(\(name)) IS NOT NULL")[0].decode(Bool.self))
    }

    @Test(
        "while an analyst reads an expired partition, writers go on; it is closed to new queries, and dropped once it is let go",
        .disabled(if: TestEngine.isDistributed, "there is no DETACH … CONCURRENTLY on distributed tables")
    )
    func duringRead() async throws {
        try await withAttempts { store in
            let old = Sample.now - .seconds(95 * 86_400)
            let name = PartitionPlan.fact(day: old.day).name
            try await store.maintenance.ensurePartitions(forDays: [old.day])
            _ = try await store.write([Sample.attempt("old", at: old)])
            let maintenance = PartitionMaintenance(
                pool: store.pool,
                clockTolerance: nil,
                waitLimit: .seconds(3),
                logger: .silent,
                now: { Sample.now }
            )
            try await store.pool.withConnection { reader in
                try await reader.executeScript("BEGIN ISOLATION LEVEL REPEATABLE READ")
                let count: Query = "SELECT count(*) FROM notificationDeliveryAttempts"
                #expect(try await reader.query(count)[0].decode(Int.self) == 1)
                let isOver = Flag()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await maintenance.maintain()
                        isOver.raise()
                    }
                    try await store.waitFor("the detaching waits for the reader") {
                        """
                        SELECT count(*) = 1 FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%CONCURRENTLY%'
                        """
                    }
                    // Its snapshot goes on seeing what it saw.
                    #expect(try await reader.query(count)[0].decode(Int.self) == 1)
                    for round in 0..<5 { #expect(try await store.write([Sample.attempt("new-\(round)")]) == [.accepted]) }
                    #expect(try await store.pool.query(count)[0].decode(Int.self) == 5, "closed to new queries")
                    #expect(!isOver.isRaised, "the maintenance still waits, and nobody waited for it")
                    try await group.waitForAll()
                }
                // Given up for now: half detached, which is no fault of an expired one.
                let partitions = try await FsckPartitions.read(on: store.pool)
                #expect(partitions.leaving.map(\.name) == [name.lowercased()])
                try await maintenance.maintain()
                #expect(try await reader.query(count)[0].decode(Int.self) == 1)
                try await reader.executeScript("COMMIT")
            }
            try await maintenance.maintain()
            #expect(try await store.pool.query("SELECT to_regclass(\(name)) IS NULL")[0].decode(Bool.self))
        }
    }

    @Test("an expired partition that cannot be dropped stops neither the round nor the others; a later round drops it")
    func faultInDropping() async throws {
        let log = RecordingLog { $0.level == .error }
        try await withDatabase { pool in
            let names = [100, 101].map { PartitionPlan.fact(day: Sample.now.day - $0).name }
            let plain = maintenance(pool, at: Sample.now)
            try await plain.ensurePartitions(forDays: [Sample.now.day - 100, Sample.now.day - 101])
            try await pool.execute("CREATE VIEW kept AS SELECT uid FROM \(raw: names[1])")
            try await PartitionMaintenance(pool: pool, clockTolerance: nil, logger: log.logger, now: { Sample.now }).maintain()
            let standing: (String) async throws -> Bool = {
                try await pool.query("SELECT to_regclass(\($0)) IS NOT NULL")[0].decode(Bool.self)
            }
            #expect(try await !standing(names[0]))
            #expect(try await standing(names[1]))
            #expect(log.events.count == 1 && "\(log.events.first?.metadata?["partition"] ?? "")" == names[1].lowercased())
            try await pool.execute("DROP VIEW kept")
            try await plain.maintain()
            #expect(try await !standing(names[1]))
        }
    }

    @Test("an instance whose clock the database's does not confirm makes partitions, and neither drops nor rotates")
    func wrongClock() async throws {
        try await withDatabase { pool in
            let real = Timestamp.now()
            try await PartitionMaintenance(pool: pool, logger: .silent).maintain()
            let before = try await PartitionStatements.names(on: pool)
            let state = try await LedgerGenerations.read(on: pool)
            let wrong = real + .seconds(200 * 86_400)
            try await PartitionMaintenance(pool: pool, logger: .silent, now: { wrong }).maintain()
            #expect(try await PartitionStatements.names(on: pool).isSuperset(of: before))
            #expect(try await LedgerGenerations.read(on: pool) == state)
        }
    }
}

/// Raised once, seen by everybody.
final class Flag: Sendable {
    private let state = Mutex(false)

    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}

extension AttemptDatabase {
    /// Polls until the condition holds or the flag is raised.
    func waitFor(_ what: String, or flag: Flag = Flag(), _ condition: () -> Query) async throws {
        try await eventually(what) {
            if flag.isRaised { return true }
            return try await pool.query(condition())[0].decode(Bool.self)
        }
    }
}
