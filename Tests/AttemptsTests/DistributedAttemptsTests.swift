import Foundation
import LocalPostgres
import Logging
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

/// What has no counterpart on one server. The other suites run on distributed tables with `make test-citus`.
@Suite(
    "Attempts on distributed tables",
    .enabled(if: TestEngine.hasCitus, Comment(rawValue: TestEngine.absence)),
    .serialized
)
struct DistributedAttemptsTests {
    private static let files = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("sql/migrations")

    private func withStore(
        migrated: Bool = true,
        now: Timestamp = Sample.now,
        logger: Logger = .silent,
        _ body: (AttemptDatabase, LocalCitus, _ database: String) async throws -> Void
    ) async throws {
        try await withDistributedDatabase(migrated: migrated) { cluster, database in
            let configuration = PostgresConfiguration(url: cluster.coordinator.socketURL(database: database), maxConnections: 6)
            let pool = PostgresPool(configuration: configuration, logger: logger)
            defer { pool.close() }
            try await body(AttemptDatabase(pool: pool, maintenance: maintenance(pool, at: now)), cluster, database)
        }
    }

    private func maintenance(_ pool: PostgresPool, at now: Timestamp) -> PartitionMaintenance {
        PartitionMaintenance(pool: pool, clockTolerance: nil, logger: .silent, now: { now })
    }

    private func attempts(_ status: AttemptStatus = .sent) -> [Attempt] {
        (0..<60).map { Sample.attempt("d-\($0)", status: status, at: Sample.now - .seconds(Int64($0) * 100)) }
    }

    @Test("a batch that comes again is duplicate, and one that takes attempts from queued to sent is advanced")
    func again() async throws {
        try await withStore { store, _, _ in
            try await store.maintenance.maintain()
            for (status, expected) in [(AttemptStatus.queued, AttemptResult.accepted), (.queued, .duplicate), (.sent, .advanced)] {
                #expect(try await store.write(attempts(status)) == Array(repeating: expected, count: 60), "\(status) is not \(expected)")
            }
            try await store.expectRollupsEqualRecount(total: 60)
        }
    }

    @Test("an installation that was distributed after the first migration is upgraded, and works")
    func upgrade() async throws {
        try await withStore(migrated: false) { store, cluster, database in
            let directory = NSTemporaryDirectory() + "/first-migration-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let first = "0001_create_attempts.sql"
            try FileManager.default.copyItem(atPath: Self.files.path + "/" + first, toPath: directory + "/" + first)
            let configuration = PostgresConfiguration(url: cluster.coordinator.socketURL(database: database))
            #expect(try await Migrator(configuration: configuration, directory: directory, logger: .silent).migrate().count == 1)
            try await TableDistribution(configuration: configuration).distribute()
            // As a later version changes a table with attempts.
            try await maintenance(store.pool, at: Sample.now).maintain()
            #expect(try await Migrator(configuration: configuration, directory: Self.files.path, logger: .silent).migrate().count > 4)
            #expect(try await store.write(attempts()) == Array(repeating: .accepted, count: 60))
            let faults = try await store.fsck().faults
            #expect(faults == [], "\(faults)")
        }
    }

    @Test("seventeen days of rotations and ninety-one of retention: what has expired is dropped, with attempts in each day")
    func retention() async throws {
        let start = Sample.now - .seconds(91 * 86_400)
        try await withStore(now: start) { store, _, _ in
            try await store.pool.execute("UPDATE ledgerState SET frozenAt = ARRAY[\(start)]")
            for day in (0..<17).map({ start + .seconds($0 * 86_400) }) {
                try await maintenance(store.pool, at: day).maintain()
                #expect(try await store.write([Sample.attempt("day-\(day.day)", at: day)], receivedAt: day) == [.accepted])
            }
            let state = try await LedgerGenerations.read(on: store.pool)
            #expect(state.current == 17 && state.oldest == 9)
            #expect(
                try await PartitionStatements.generations(on: store.pool)
                    == Set((state.oldest...state.current + 1).map { "attemptledger_\($0)" })
            )
            for day in [30, 0] as [Int64] { try await maintenance(store.pool, at: Sample.now - .seconds(day * 86_400)).maintain() }
            let days = try await store.pool.query("SELECT count(*) FROM notificationDeliveryAttempts")[0].decode(Int.self)
            #expect(days == 16, "the first day is past its retention")
            let faults = try await store.fsck().faults
            #expect(faults == [], "\(faults)")
            // Nothing of it is left on a worker.
            let shards = try await store.pool.query("SELECT DISTINCT table_name::text FROM citus_shards").map { try $0.decode(String.self) }
            #expect(!shards.contains(PartitionPlan.fact(day: start.day).name.lowercased()))
            #expect(shards.contains(PartitionPlan.fact(day: start.day + 1).name.lowercased()))
        }
    }

    @Test("partitions that two instances attach while others write: no deadlock")
    func attaching() async throws {
        let log = RecordingLog { "\($0.metadata?["sqlstate"] ?? "")" == PostgresError.Code.deadlock.rawValue }
        try await withStore(logger: log.logger) { store, _, _ in
            try await store.maintenance.ensurePartitions(forDays: [Sample.now.day])
            try await withThrowingTaskGroup(of: Void.self) { group in
                let isOver = Flag()
                for writer in 0..<2 {
                    group.addTask {
                        var round = 0
                        while !isOver.isRaised {
                            round += 1
                            _ = try await store.write((0..<20).map { Sample.attempt("w\(writer)-\(round)-\($0)") }, slot: Int16(writer))
                        }
                    }
                }
                try await withThrowingTaskGroup(of: Void.self) { instances in
                    for _ in 0..<2 { instances.addTask { try await store.maintenance.ensurePartitions(forDays: Set(20_000..<20_030)) } }
                    try await instances.waitForAll()
                }
                isOver.raise()
                try await group.waitForAll()
            }
        }
        #expect(log.events.isEmpty)
    }

    @Test("a prepared transaction that a coordinator left on a worker is ended, and what it locked is written")
    func leftover() async throws {
        try await withStore { store, cluster, database in
            try await store.maintenance.maintain()
            #expect(try await store.write(attempts(.queued)) == Array(repeating: .accepted, count: 60))
            let shards = try await store.pool.query(
                """
                SELECT shard_name FROM citus_shards
                WHERE table_name = 'attemptLedger_1'::regclass AND nodeport = \(Int32(cluster.workers[0].port))
                """
            ).map { try $0.decode(String.self) }
            #expect(!shards.isEmpty)
            let url = cluster.workers[0].socketURL(database: database)
            let worker = try await PostgresConnection.connect(PostgresConfiguration(url: url))
            let locks = shards.map { "SELECT 1 FROM \($0) FOR UPDATE" }.joined(separator: "; ")
            try await worker.executeScript("BEGIN; \(locks); PREPARE TRANSACTION 'citus_0_2147483647_1_0'")
            #expect(try await worker.query("SELECT 1 FROM pg_prepared_xacts WHERE database = \(database)").count == 1)
            #expect(try await store.write(attempts(.sent)) == Array(repeating: .advanced, count: 60))
            #expect(try await worker.query("SELECT 1 FROM pg_prepared_xacts WHERE database = \(database)").isEmpty)
            let faults = try await store.fsck().faults
            #expect(faults == [], "\(faults)")
        }
    }

    @Test("an expired partition that somebody reads is dropped later, and writers go on")
    func reader() async throws {
        try await withStore { store, cluster, database in
            let day = Sample.now.day - 95
            let name = PartitionPlan.fact(day: day).name.lowercased()
            try await store.maintenance.maintain()
            try await store.maintenance.ensurePartitions(forDays: [day])
            let url = cluster.coordinator.socketURL(database: database)
            let reader = try await PostgresConnection.connect(PostgresConfiguration(url: url))
            try await reader.executeScript("BEGIN; SELECT count(*) FROM notificationDeliveryAttempts")
            try await store.maintenance.maintain()
            #expect(try await PartitionStatements.names(on: store.pool).contains(name))
            #expect(try await store.write(attempts()) == Array(repeating: .accepted, count: 60))
            try await reader.executeScript("COMMIT")
            try await store.maintenance.maintain()
            #expect(try await !PartitionStatements.names(on: store.pool).contains(name))
        }
    }

    @Test("a later status for a day that is stored by columns is a conflict and changes nothing; the rest of its batch is stored")
    func columnar() async throws {
        try await withStore { store, _, _ in
            let day = Sample.now - .seconds(3 * 86_400)
            let queued = Sample.attempt("old", status: .queued, at: day)
            try await store.maintenance.maintain()
            #expect(try await store.write([queued]) == [.accepted])
            try await store.pool.execute("CREATE EXTENSION citus_columnar")
            try await store.pool.execute(
                "SELECT alter_table_set_access_method(\(PartitionPlan.fact(day: day.day).name.lowercased()), 'columnar')"
            )
            let sent = Sample.attempt("old", status: .sent, at: day)
            let others = [Sample.attempt("new"), Sample.attempt("new-to-that-day", at: day)]
            for result in [AttemptResult.accepted, .duplicate] {
                #expect(try await store.write([sent, queued] + others) == [.conflict(stored: queued), .duplicate, result, result])
            }
            let faults = try await store.fsck().faults
            #expect(faults == [], "\(faults)")
        }
    }

    @Test(
        "an import into days that are stored by columns stores what is new; a later status is rejected, also of an id that the ledger forgot"
    )
    func importToColumns() async throws {
        let start = Sample.now - .seconds(30 * 86_400)
        try await withStore(now: start) { store, _, _ in
            try await store.pool.execute("UPDATE ledgerState SET frozenAt = ARRAY[\(start)]")
            try await store.maintenance.maintain()
            #expect(try await store.write([Sample.attempt("forgotten", status: .queued, at: start)], receivedAt: start) == [.accepted])
            for day in 1...30 as ClosedRange<Int64> { try await maintenance(store.pool, at: start + .seconds(day * 86_400)).maintain() }
            let lines = { (statuses: [(String, String)]) in
                try statuses.flatMap { id, status in
                    try Sample.bytes(Sample.json(["status": status, "app": "com.example.app", "latencyMs": 12], id: id, at: start)) + [0x0A]
                }
            }
            let (first, _) = try await imported(lines([("known", "queued")]), to: store)
            #expect(first.accepted == 1)
            try await store.pool.execute("CREATE EXTENSION citus_columnar")
            try await store.pool.execute(
                "SELECT alter_table_set_access_method(\(PartitionPlan.fact(day: start.day).name.lowercased()), 'columnar')"
            )
            let (result, rejects) = try await imported(
                lines([("new", "sent"), ("known", "sent"), ("forgotten", "sent"), ("known", "queued")]),
                to: store
            )
            #expect(result.isComplete && result.accepted == 1 && result.duplicate == 1 && result.conflict == 2, "\(result)")
            #expect(rejects == ["known attempt_conflict", "forgotten attempt_conflict"])
            let rows = try await store.pool.query("SELECT attemptId || ' ' || status FROM notificationDeliveryAttempts ORDER BY 1")
            let stored = try rows.map { try $0.decode(String.self) }
            #expect(stored == ["forgotten queued", "known queued", "new sent"])
            let faults = try await store.fsck().faults
            #expect(faults == [], "\(faults)")
        }
    }

    private func imported(_ bytes: [UInt8], to store: AttemptDatabase) async throws -> (AttemptImporter.Progress, [String]) {
        let path = NSTemporaryDirectory() + "/import-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let importer = AttemptImporter(pool: store.pool, maintenance: maintenance(store.pool, at: Sample.now))
        var rejects: [String] = []
        let result = try await importer.run(
            path: path,
            now: { Sample.now },
            onReject: { rejects.append("\($0.attemptId ?? "?") \($0.code)") },
            onProgress: { _ in }
        )
        return (result, rejects)
    }

    @Test("sizes are those of the shards")
    func sizes() async throws {
        try await withStore { store, _, _ in
            try await store.maintenance.maintain()
            #expect(try await store.write(attempts()) == Array(repeating: .accepted, count: 60))
            let partitions = try await FsckPartitions.read(on: store.pool)
            #expect(partitions.sizes[PartitionPlan.fact(day: Sample.now.day).name.lowercased(), default: 0] > 8000)
        }
    }
}
