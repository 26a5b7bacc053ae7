import Attempts
import Foundation
import LocalPostgres
import Postgres
import ProviderSimulator
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    /// `make soak WHAT=citus` runs it.
    @Suite(
        "A distributed database through faults",
        .enabled(if: TestEngine.hasCitus, Comment(rawValue: TestEngine.absence)),
        .enabled(if: Soak.minutes != nil, "only by make soak")
    )
    struct DistributedSoakTests {
        /// Between two faults, as the soak has thirty of them in ten minutes.
        private static let pace = Duration.seconds(20)
        /// Of the ledger, all of which must know what was stored before.
        private static let rotations = 6

        @Test(
            "nodes are killed, and their networks cut, during an incident while attempts, advances, resends and sends come and generations rotate: nothing is lost or doubled, no statement is refused, what has expired is dropped"
        )
        func faults() async throws {
            try await withLocalCitus(hasNetwork: TestEngine.hasNetworks) { cluster in
                try await withTestDirectory { directory in
                    try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                        let database = try await cluster.createDatabase("pushwatch")
                        try await distribute(database)
                        for node in cluster.nodes { try await logStates(node) }
                        let settings = try ProviderFiles(simulator, endpoints, directory: directory).apns
                        let server = try await ServerProcess.start(database: database, settings: settings)
                        defer { checkLogs(server.log, cluster) }
                        try await server.waitUntilReady()
                        // A tenth of it is `provider_5xx`: an incident, from its beginning on.
                        let load = PostingLoad(url: server.api.url, batchSize: 300, sendsToo: true, repeats: true)
                        try await withPool(database) { pool in
                            let faults = try await load.run(posters: 4) { try await disturb(cluster, while: load, server, pool) }
                            try await check(load, faults: faults, server, pool)
                            try await checkRetention(server, pool)
                        }
                        #expect(try await server.terminate().code == 0)
                    }
                }
            }
        }

        private func logStates(_ node: LocalPostgres) async throws {
            let connection = try await PostgresConnection.connect(PostgresConfiguration(url: node.socketURL(database: "postgres")))
            try await connection.executeScript("ALTER SYSTEM SET log_line_prefix = '%m [%p] %e '")
            try await connection.executeScript("SELECT pg_reload_conf()")
        }

        /// Kills a node and cuts a worker's network in turn; how often in all.
        private func disturb(
            _ cluster: LocalCitus,
            while load: PostingLoad,
            _ server: ServerProcess,
            _ pool: PostgresPool
        ) async throws -> Int {
            let maintenance = PartitionMaintenance(pool: pool, logger: .silent)
            var soak = Soak(rounds: 3)
            let start = ContinuousClock.now
            try await load.progress(500)
            while soak.next() {
                let cuts = TestEngine.hasNetworks && soak.rounds % 2 == 0
                let node = Int.random(in: (cuts ? 1 : 0)..<cluster.nodes.count)
                if cuts {
                    try cluster.cutNetwork(of: node)
                    // Mostly shorter than what ends the sessions, sometimes longer.
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...15_000)))
                    try cluster.restoreNetwork(of: node)
                } else {
                    try FrozenServer(directory: cluster.nodes[node].directory).end()
                    cluster.kill(node)
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...3_000)))
                    try await eventually("node \(node) starts again") { (try? await cluster.restart(node)) != nil }
                }
                try await load.progress(500, within: .seconds(120))
                if soak.rounds % 5 == 1, soak.rounds / 5 < Self.rotations {
                    try await eventually("the ledger's generation rotates") { (try? await maintenance.rotateLedgerNow()) != nil }
                }
                for path in ["/", "/alerts", "/attempts?uid=user-p0-0-1", "/health/ready"] {
                    let answer = try await server.api.get(path)
                    #expect(answer.status < 500 || answer.status == 503, "\(path): \(answer.text.prefix(500))")
                }
                let at = ContinuousClock.now - start
                FileHandle.standardError.write(
                    Data(
                        "soak \(at.components.seconds) s: node \(node) \(cuts ? "cut off" : "killed"), \(load.attempts.count) acknowledged\n"
                            .utf8
                    )
                )
                try await Task.sleep(until: start + Self.pace * soak.rounds, clock: .continuous)
            }
            return soak.rounds
        }

        private func check(_ load: PostingLoad, faults: Int, _ server: ServerProcess, _ pool: PostgresPool) async throws {
            load.expectUnavailable()
            #expect(load.forgotten == 0, "of batches that came once more, so many attempts were not duplicates")
            try await expectSent(load.sends, on: pool)
            print("citus: \(load.sends.count) sends acknowledged and sent, \(load.repeated) attempts came once more")
            try await FaultReport(fault: "kill -9 and cut networks of nodes", times: faults, load: load).expectNothingLost(on: pool)
            let queued = try await pool.query("SELECT attemptId FROM notificationDeliveryAttempts WHERE status = 'queued'")
            let behind = try load.attempts.intersection(queued.map { try $0.decode(String.self) })
            #expect(behind.isEmpty, "acknowledged as sent, stored as queued: \(behind.prefix(3))")
            try await eventually("the incident is an alert", within: .seconds(240)) {
                try await pool.query("SELECT 1 FROM alerts WHERE rule = 'ProviderUnavailable'").count > 0
            }
        }

        /// Seventeen and ninety-one days later, which is as if all stored times were as much earlier.
        private func checkRetention(_ server: ServerProcess, _ pool: PostgresPool) async throws {
            let now = Timestamp.now()
            for day in Array(1...17) + [91] as [Int64] {
                let later = now + .seconds(day * 86_400)
                try await PartitionMaintenance(pool: pool, clockTolerance: nil, logger: .silent, now: { later }).maintain()
                guard day >= 17 else { continue }
                #expect(try await server.api.get("/health/ready").status == 200)
                let fsck = try await Fsck(pool: pool, now: later).run()
                for line in fsck.lines where line.faultCount > 0 {
                    Issue.record("\(day) days later, \(line.check): \(line.faults.prefix(3))")
                }
                let rows = try await Ledger(session: pool).rows
                #expect(day == 17 ? rows > 0 : rows == 0)
            }
            let answer = try await server.api.post("/attempts", text: SampleAttempt(id: "afterwards", at: .now()).text)
            #expect(answer.status == 201, "\(answer)")
        }

        /// What a node refuses, and what became of what a killed node could not do.
        private func checkLogs(_ log: String, _ cluster: LocalCitus) {
            var faults: [String: Int] = [:]
            for node in cluster.nodes {
                guard let text = try? String(contentsOfFile: node.directory + "/postgres.log", encoding: .utf8), !text.isEmpty else {
                    Issue.record("no log of the node in \(node.directory)")
                    continue
                }
                let lines = text.split(separator: "\n")
                for (index, line) in lines.enumerated() {
                    guard let fault = line.firstMatch(of: #/ (0A000|42601|XX000) (ERROR|FATAL|PANIC): +(.*)/#) else {
                        if line.contains("terminated by signal 11") { Issue.record("\(lines[index...].prefix(3))") }
                        continue
                    }
                    if fault.1 == "XX000" { faults[String(fault.3.prefix(60)), default: 0] += 1; continue }
                    Issue.record("\(lines[index...].prefix(30).joined(separator: "\n"))")
                }
            }
            print("citus: XX000 on nodes, all of them handled: \(faults.sorted { $0.value > $1.value })")
            for line in log.split(separator: "\n") {
                if line.contains("PostgreSQL 0A000") || line.contains("PostgreSQL 42601")
                    || line.contains(" error ") && line.contains("XX000")
                {
                    Issue.record("\(line.prefix(1_000))")
                }
            }
        }
    }
}
