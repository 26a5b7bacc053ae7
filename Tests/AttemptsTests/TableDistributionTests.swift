import LocalPostgres
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Attempts

@Suite("Distributing tables")
struct TableDistributionTests {
    private static let coordinator = DistributionState.Node(name: "c:1", group: 0, takesShards: false)
    private static let workers = (1...2).map { DistributionState.Node(name: "w:\($0)", group: Int32($0), takesShards: true) }
    private static let local: [DistributedTable: DistributionState.Placement] = [.state: .local, .ledger: .local, .attempts: .local]

    private func state(
        own: Int32 = 0,
        _ nodes: [DistributionState.Node] = [coordinator] + workers,
        _ changes: [DistributedTable: DistributionState.Placement] = [:]
    ) -> DistributionState {
        DistributionState(ownGroup: own, nodes: nodes, placements: Self.local.merging(changes) { $1 })
    }

    private func kind(_ state: DistributionState, shards: Int? = nil) -> DistributionRefusal.Kind? {
        do throws(DistributionRefusal) {
            _ = try state.check(shards: shards)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test("refused: on a worker, without nodes or their way to the coordinator, without a schema, with fewer shards than workers")
    func refusals() {
        let idle = DistributionState.Node(name: "w:3", group: 3, takesShards: false)
        #expect(kind(state(own: 1)) == .worker)
        #expect(kind(state([])) == .noCoordinator)
        #expect(kind(state([Self.coordinator, Self.workers[0], idle])) == .tooFewNodes)
        #expect(kind(state(Self.workers)) == .noCoordinator)
        let bare = DistributionState(ownGroup: 0, nodes: [Self.coordinator] + Self.workers, placements: [.state: .local])
        #expect(kind(bare) == .notMigrated)
        #expect(kind(state(), shards: 1) == .shardCount)
        #expect(kind(state()) == nil)
    }

    @Test("two shards a worker unless asked; what is distributed decides for the rest")
    func shards() throws {
        let ledger = DistributionState.Placement.distributed(column: "attemptkey", colocation: 4, shards: 8)
        let partly = state([Self.coordinator] + Self.workers, [.state: .reference, .ledger: ledger])
        #expect(try state().check(shards: nil) == 4)
        #expect(try state().check(shards: 6) == 6)
        #expect(try partly.check(shards: nil) == 8)
        #expect(try partly.check(shards: 8) == 8)
        #expect(kind(partly, shards: 4) == .shardCount)
        #expect(partly.local == [.attempts])
        #expect(partly.distributed?.table == .ledger)
    }

    @Test("a table that is distributed in another way is left alone, and the error names it")
    func otherPlacements() {
        func distributed(_ column: String, _ colocation: Int32) -> DistributionState.Placement {
            .distributed(column: column, colocation: colocation, shards: 4)
        }
        let nodes = [Self.coordinator] + Self.workers
        #expect(kind(state(nodes, [.ledger: distributed("generation", 1)])) == .otherPlacement)
        #expect(kind(state(nodes, [.state: distributed("id", 1)])) == .otherPlacement)
        #expect(kind(state(nodes, [.attempts: .reference])) == .otherPlacement)
        #expect(kind(state(nodes, [.ledger: distributed("attemptkey", 1), .attempts: distributed("attemptkey", 2)])) == .otherPlacement)
        #expect(kind(state(nodes, [.ledger: distributed("attemptkey", 1), .attempts: distributed("attemptkey", 1)])) == nil)
    }

    @Test(
        "one PostgreSQL is refused with what would be needed, and stays as it is",
        .disabled(if: TestEngine.isDistributed, "it is about one PostgreSQL")
    )
    func singleServer() async throws {
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url), logger: .silent)
            defer { pool.close() }
            let refusal = await #expect(throws: DistributionRefusal.self) {
                try await TableDistribution(configuration: PostgresConfiguration(url: url)).distribute()
            }
            #expect(refusal?.kind == .noExtension && refusal?.description.contains("CREATE EXTENSION citus") == true)
            #expect(try await DatabaseEngine.read(on: pool) == .single)
            let layout = try await DatabaseLayout.read(on: pool)
            #expect(layout.engine == .postgresql && layout.citusVersion == nil && layout.nodes.isEmpty && layout.databaseBytes > 0)
        }
    }
}

@Suite(
    "Distributing tables on a cluster",
    .enabled(if: TestEngine.hasCitus, Comment(rawValue: TestEngine.absence)),
    .serialized
)
struct ClusterDistributionTests {
    /// A migrated database with partitions around the sample's day, on two workers.
    private func withCluster(_ body: (_ url: String, _ store: AttemptDatabase) async throws -> Void) async throws {
        try await withDistributedDatabase(migrated: false) { cluster, database in
            let url = cluster.coordinator.socketURL(database: database)
            try await migrate(url)
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url), logger: .silent)
            defer { pool.close() }
            let maintenance = PartitionMaintenance(pool: pool, clockTolerance: nil, logger: .silent, now: { Sample.now })
            try await maintenance.maintain()
            try await pool.execute("UPDATE ledgerState SET frozenAt = ARRAY[\(Sample.now)]")
            try await body(url, AttemptDatabase(pool: pool, maintenance: maintenance))
        }
    }

    private static func attempts(_ name: String, _ count: Int = 200, status: AttemptStatus = .sent) -> [Attempt] {
        (0..<count).map { Sample.attempt("\(name)-\($0)", status: status) }
    }

    /// Tables and partitions that are not as their parent is.
    private func stray(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query(
            """
            SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_dist_partition AS parent ON parent.logicalrelid = inhparent
            LEFT JOIN pg_dist_partition AS child ON child.logicalrelid = inhrelid
            WHERE child.colocationid IS DISTINCT FROM parent.colocationid AND inhparent IN (
                'attemptLedger'::regclass, 'notificationDeliveryAttempts'::regclass)
            """
        ).map { try $0.decode(String.self) }
    }

    @Test("stored rows move, known ids stay known, and later generations and partitions are distributed, too; a second run changes nothing")
    func distribute() async throws {
        try await withCluster { url, store in
            #expect(try await store.write(Self.attempts("before")) == Array(repeating: .accepted, count: 200))
            #expect(try await store.write(Self.attempts("queued", status: .queued)) == Array(repeating: .accepted, count: 200))
            let distribution = TableDistribution(configuration: PostgresConfiguration(url: url))
            let planned = try await distribution.distribute(isDryRun: true)
            #expect(planned.steps.map(\.table) == [.state, .ledger, .attempts] && planned.shards == 4 && planned.workers == 2)
            #expect(planned.steps.allSatisfy { $0.bytes > 0 })
            #expect(try await DatabaseEngine.read(on: store.pool) == .single)

            let ended = Mutex<[DistributedTable]>([])
            let report = try await distribution.distribute { event in
                if case .ended(let step, _) = event { ended.withLock { $0.append(step.table) } }
            }
            #expect(report.steps.count == 3 && ended.withLock { $0 } == [.state, .ledger, .attempts])
            #expect(try await DatabaseEngine.read(on: store.pool) == .citus(shards: 4))
            let left = try await store.pool.query(
                """
                SELECT coalesce(sum(pg_relation_size(inhrelid)), 0)::bigint FROM pg_inherits
                WHERE inhparent IN ('attemptLedger'::regclass, 'notificationDeliveryAttempts'::regclass)
                """
            )
            #expect(try left[0].decode(Int.self) == 0, "rows stay on the coordinator's disk")

            #expect(try await store.write(Self.attempts("before")) == Array(repeating: .duplicate, count: 200))
            #expect(try await store.write(Self.attempts("queued")) == Array(repeating: .advanced, count: 200))
            #expect(try await store.write(Self.attempts("after")) == Array(repeating: .accepted, count: 200))
            try await store.rotate()
            let later = PartitionPlan.fact(day: Sample.now.day + 30)
            try await store.maintenance.ensurePartitions(forDays: [Sample.now.day + 30])
            #expect(try await PartitionStatements.names(on: store.pool).contains(later.name.lowercased()))
            #expect(try await stray(store.pool) == [])
            #expect(try await store.write(Self.attempts("before")) == Array(repeating: .duplicate, count: 200))
            #expect(try await store.write(Self.attempts("new")) == Array(repeating: .accepted, count: 200))

            let again = try await distribution.distribute(shards: 4)
            #expect(again.steps.isEmpty && again.shards == 4)
            let other = await #expect(throws: DistributionRefusal.self) { try await distribution.distribute(shards: 8) }
            #expect(other?.kind == .shardCount)
            let layout = try await DatabaseLayout.read(on: store.pool)
            #expect(layout.engine == .citus && layout.shards == 4 && layout.nodes.map(\.shards) == [0, 2, 2])
            #expect(layout.nodes.allSatisfy { $0.isCoordinator || ($0.bytes > 0 && $0.share > 0.3) })
            #expect(layout.distributedTables == ["attemptLedger", "ledgerState", "notificationDeliveryAttempts"])
            // Migrations go on where tables are distributed.
            try await migrate(url)
        }
    }

    @Test(
        "one that was interrupted goes on with what is left, next to what is distributed",
        arguments: ["attemptLedger", "notificationDeliveryAttempts"]
    )
    func interrupted(first: String) async throws {
        try await withCluster { url, store in
            _ = try await store.write(Self.attempts("before"))
            _ = try await store.pool.query(
                "SELECT create_distributed_table(\(raw: "'\(first)'"), 'attemptkey', shard_count => 6, colocate_with => 'none')"
            )
            let report = try await TableDistribution(configuration: PostgresConfiguration(url: url)).distribute()
            #expect(report.shards == 6 && report.steps.count == 2)
            let groups = try await store.pool.query("SELECT count(DISTINCT colocationid) FROM pg_dist_partition WHERE partmethod = 'h'")
            #expect(try groups[0].decode(Int.self) == 1)
            #expect(try await store.write(Self.attempts("before")) == Array(repeating: .duplicate, count: 200))
        }
    }

    @Test("writers wait while a table is copied, and lose nothing")
    func underLoad() async throws {
        try await withCluster { url, store in
            let isOver = Flag()
            let written = try await withThrowingTaskGroup(of: Int.self) { group in
                for writer in 0..<3 {
                    group.addTask {
                        var round = 0
                        while !isOver.isRaised {
                            let batch = Self.attempts("w\(writer)-\(round)", 50)
                            let results = try await TransactionRetry.idempotent.run { try await store.write(batch, slot: Int16(writer)) }
                            #expect(results.count == 50 && results.allSatisfy { $0 == .accepted || $0 == .duplicate })
                            round += 1
                        }
                        return round * 50
                    }
                }
                let report = try await TableDistribution(configuration: PostgresConfiguration(url: url)).distribute()
                #expect(report.steps.count == 3)
                isOver.raise()
                return try await group.reduce(0, +)
            }
            for table in ["attemptLedger", "notificationDeliveryAttempts"] {
                #expect(try await store.pool.query("SELECT count(*) FROM \(raw: table)")[0].decode(Int.self) == written, "\(table)")
            }
        }
    }

    @Test("refused with what to do: on a worker, and with too few workers")
    func refusals() async throws {
        try await withLocalCitus(workers: 1) { cluster in
            let url = try await cluster.createDatabase("pushwatch")
            func refusal(_ url: String) async -> DistributionRefusal? {
                await #expect(throws: DistributionRefusal.self) {
                    try await TableDistribution(configuration: PostgresConfiguration(url: url)).distribute()
                }
            }
            #expect(await refusal(url)?.kind == .notMigrated)
            try await migrate(url)
            let few = await refusal(url)
            #expect(few?.kind == .tooFewNodes && few?.description.contains("citus_add_node") == true)
            let worker = await refusal(cluster.workers[0].socketURL(database: "pushwatch"))
            #expect(worker?.kind == .worker && worker?.description.contains(":\(cluster.coordinator.port)") == true)
        }
    }
}
