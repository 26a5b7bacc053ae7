import Attempts
import Foundation
import LocalPostgres
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite(
        "Nodes of a distributed database fail under load",
        .enabled(if: TestEngine.hasCitus, Comment(rawValue: TestEngine.absence)),
        .timeLimit(.minutes(10))
    )
    struct DistributedServerTests {
        /// A server on a cluster of its own, and at the end the checks that hold after any fault of a node.
        private func withLoad(
            _ fault: String,
            hasNetwork: Bool = false,
            refusals: Int = 1,
            _ body: (_ cluster: LocalCitus, _ server: ServerProcess, _ load: PostingLoad) async throws -> Int
        ) async throws {
            try await withLocalCitus(hasNetwork: hasNetwork) { cluster in
                let url = try await cluster.createDatabase("pushwatch")
                try await distribute(url)
                let server = try await ServerProcess.start(database: url)
                try await server.waitUntilReady()
                let load = PostingLoad(url: server.api.url)
                let times = try await load.run(posters: 4) {
                    try await load.progress(300)
                    let times = try await body(cluster, server, load)
                    try await load.progress(300)
                    return times
                }
                load.expectUnavailable(atLeast: refusals)
                let again = SampleAttempt(id: try #require(load.attempts.first { $0.hasSuffix("-1") }), at: .now())
                #expect(try await server.api.post("/attempts", text: again.text).text.contains("duplicate"))
                for node in cluster.nodes {
                    try await node.eventually("no transaction is left prepared on \(node.directory)") {
                        try await $0.query("SELECT gid FROM pg_prepared_xacts").isEmpty
                    }
                }
                try await withPool(url) { pool in
                    try await FaultReport(fault: fault, times: times, load: load).expectNothingLost(on: pool)
                }
                #expect(try await server.terminate().code == 0)
                for state in ["0A000", "42601"] { #expect(!server.log.contains("PostgreSQL \(state)"), "\(server.log)") }
            }
        }

        /// So many attempts that some belong to each shard.
        private func expectRefusal(_ server: ServerProcess, _ name: String) async throws {
            try await eventually("attempts are refused: \(name)") {
                let probes = (0..<20).map { SampleAttempt(id: "probe-\(name)-\($0)", at: .now()).json }
                let answer = try await server.api.post("/attempts", probes)
                guard answer.status == 503 else { return false }
                #expect(answer[header: "retry-after"].flatMap { Int($0) } != nil)
                return true
            }
        }

        @Test("a worker, then the coordinator, dies: 503 meanwhile, recovery by itself, nothing acknowledged lost, nothing left prepared")
        func killed() async throws {
            var soak = Soak(rounds: 3)
            try await withLoad("node killed") { cluster, server, load in
                while soak.next() {
                    let node = soak.rounds % 3
                    cluster.kill(node)
                    try await expectRefusal(server, "\(soak.rounds)")
                    #expect(try await server.api.get("/health").status == 200)
                    try await cluster.restart(node)
                    try await server.waitUntilReady()
                    try await load.progress(300)
                }
                return soak.rounds
            }
        }

        @Test("a worker no longer answers, as when its network is cut: 503 within 10 s, and posts flow again when it does")
        func silent() async throws {
            try await withLoad("node silent") { cluster, server, load in
                let frozen = try FrozenServer(directory: cluster.workers[0].directory)
                defer { frozen.thaw() }
                let start = ContinuousClock.now
                try await expectRefusal(server, "silent")
                #expect(ContinuousClock.now - start < .seconds(10), "\(ContinuousClock.now - start)")
                frozen.thaw()
                try await load.progress(300)
                return 1
            }
        }

        @Test(
            "a worker's network is cut, for a moment, then until all sessions there are given up: 503 within 10 s meanwhile, recovery by itself",
            .enabled(if: TestEngine.hasNetworks, Comment(rawValue: TestEngine.networkAbsence))
        )
        func cut() async throws {
            try await withLoad("network cut", hasNetwork: true) { cluster, server, load in
                try cluster.cutNetwork(of: 1)
                try await cluster.coordinator.eventually("statements wait for it") { try await !waiting($0, seconds: 2).isEmpty }
                try cluster.restoreNetwork(of: 1)
                try await load.progress(300, within: .seconds(20))

                try cluster.cutNetwork(of: 2)
                let start = ContinuousClock.now
                try await expectRefusal(server, "cut")
                #expect(ContinuousClock.now - start < .seconds(10), "\(ContinuousClock.now - start)")
                #expect(try await server.api.get("/attempts?uid=user-1").status == 503)
                for path in ["/", "/health"] { #expect(try await server.api.get(path).status == 200, "\(path)") }
                try await cluster.coordinator.eventually("its sessions no longer wait") { try await waiting($0, seconds: 8).isEmpty }
                try await cluster.workers[1].eventually("the worker has none left of a node that it cannot reach") {
                    // It can reach itself.
                    try await $0.query("SELECT FROM pg_stat_activity WHERE client_addr <> current_setting('citus.local_hostname')::inet")
                        .isEmpty
                }
                try cluster.restoreNetwork(of: 2)
                try await load.progress(300, within: .seconds(20))
                #expect(try await server.api.get("/attempts?uid=user-1").status == 200)
                #expect(load.slowest < .seconds(11), "\(load.slowest)")
                return 2
            }
        }

        /// Statements that wait for another node: not for their client, as within a pipeline.
        private func waiting(_ pool: PostgresPool, seconds: Double) async throws -> [String] {
            try await pool.query(
                """
                SELECT query FROM pg_stat_activity
                WHERE application_name LIKE 'pushwatch %' AND state = 'active' AND wait_event IS DISTINCT FROM 'ClientRead'
                    AND query_start < now() - make_interval(secs => \(seconds))
                """
            ).map { try $0.decode(String.self) }
        }

        @Test(
            "a worker's network is cut while transactions are prepared and not yet committed there: they are committed later, once",
            .enabled(if: TestEngine.hasNetworks, Comment(rawValue: TestEngine.networkAbsence))
        )
        func cutWhileCommitting() async throws {
            try await withLoad("network cut before COMMIT PREPARED", hasNetwork: true) { cluster, server, load in
                let prepared = { (pool: PostgresPool) in try await !pool.query("SELECT FROM pg_prepared_xacts").isEmpty }
                // The coordinator's own commit, which is between the two, waits for a standby that there is not.
                try await standby(of: cluster, is: "'nobody'")
                try await cluster.workers[0].eventually("transactions are prepared", prepared)
                try cluster.cutNetwork(of: 1)
                try await standby(of: cluster, is: "''")
                try await expectRefusal(server, "committing")
                try await cluster.workers[0].eventually("they still are", prepared)
                try cluster.restoreNetwork(of: 1)
                try await load.progress(300, within: .seconds(20))
                return 1
            }
        }

        private func standby(of cluster: LocalCitus, is name: String) async throws {
            let url = cluster.coordinator.socketURL(database: "postgres")
            let connection = try await PostgresConnection.connect(PostgresConfiguration(url: url))
            try await connection.executeScript("ALTER SYSTEM SET synchronous_standby_names = \(name)")
            try await connection.executeScript("SELECT pg_reload_conf()")
        }

        @Test("a worker is added and shards move to it while attempts are posted")
        func rebalanced() async throws {
            try await withLoad("shards moved", refusals: 0) { cluster, _, _ in
                let worker = try await cluster.startNode()
                try await cluster.add(worker, to: "pushwatch")
                return try await withPool(cluster.coordinator.socketURL(database: "pushwatch")) { pool in
                    _ = try await pool.query("SELECT citus_rebalance_start()")
                    try await eventually("shards are on each worker") {
                        try await DatabaseLayout.read(on: pool).nodes.allSatisfy { $0.isCoordinator || $0.shards > 0 }
                    }
                    return 1
                }
            }
        }
    }

    @Suite("A part of the database is away")
    struct AwayPartTests {
        @Test("what a distributed engine says then is 503 with Retry-After, and the attempts are stored when it is back")
        func unavailable() async throws {
            try await withServer { server in
                try await server.pool.withConnection { connection in
                    try await connection.executeScript(
                        """
                        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                            RAISE EXCEPTION 'failure on connection marked as essential: worker:5432' USING ERRCODE = 'XX000';
                        END $$;
                        CREATE TRIGGER refuse BEFORE INSERT ON notificationDeliveryAttempts FOR EACH STATEMENT EXECUTE FUNCTION refuse()
                        """
                    )
                }
                let attempt = SampleAttempt(id: "away", at: .now()).text
                let answer = try await server.api.post("/attempts", text: attempt)
                #expect(answer.status == 503 && answer[header: "retry-after"].flatMap { Int($0) } != nil, "\(answer)")
                #expect(!answer.text.contains("essential"))
                try await server.pool.execute("DROP TRIGGER refuse ON notificationDeliveryAttempts")
                #expect(try await server.api.post("/attempts", text: attempt).status == 201)
            }
        }
    }
}

extension LocalPostgres {
    /// Looks at the database of the service on one node until the condition holds.
    fileprivate func eventually(_ what: String, _ condition: (PostgresPool) async throws -> Bool) async throws {
        try await withPool(socketURL(database: "pushwatch")) { pool in
            try await TestSupport.eventually(what) { try await condition(pool) }
        }
    }
}
