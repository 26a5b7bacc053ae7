import Foundation
import LocalPostgres
import Postgres
import PushContract
import TestDatabase
import Testing

extension WholeService {
    @Suite("The primary hangs")
    struct HungPrimaryTests {
        @Test(
            "SIGSTOP under load, the standby is promoted: every post is answered within 10 s, posts flow again within 30 s, nothing is lost"
        )
        func promoted() async throws {
            try await withTestDirectory { directory in
                let primary = ScratchCluster(in: directory + "/primary", settings: ["wal_level": "replica", "max_wal_senders": "4"])
                defer { primary.crash() }
                try await primary.start()
                let standby = try await primary.makeStandby(in: directory + "/standby")
                defer { standby.stopBlocking(.immediate) }
                let admin = try await PostgresConnection.connect(PostgresConfiguration(url: primary.url))
                try await admin.executeScript("ALTER SYSTEM SET synchronous_standby_names = '*'")
                try await admin.executeScript("SELECT pg_reload_conf()")
                try await eventually("the standby is synchronous") {
                    try await admin.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")[0].decode(Int.self) == 1
                }
                let server = try await ServerProcess.start(database: primary.url(orElse: standby.port), arguments: ["--migrate"])
                try await server.waitUntilReady()
                let load = PostingLoad(url: server.api.url)
                try await load.run(posters: 8) {
                    try await load.progress(400)
                    try primary.freeze()
                    defer { primary.thaw() }
                    let stopped = ContinuousClock.now
                    try await withPool(standby.tcpURL) { pool in
                        let isPromoted = try await pool.query("SELECT pg_promote(true, 60)")[0].decode(Bool.self)
                        #expect(isPromoted)
                    }
                    try await eventually("readiness says so") {
                        let answer = try await server.api.get("/health/ready")
                        return answer.status == 503 && answer.text.contains("database")
                    }
                    try await load.progress(1)
                    #expect(ContinuousClock.now - stopped < .seconds(30), "\(ContinuousClock.now - stopped)")
                    print("posts flow again \(ContinuousClock.now - stopped) after SIGSTOP of the primary")
                    try await server.waitUntilReady()
                    try await load.progress(800)
                }
                print("the slowest post took \(load.slowest)")
                #expect(load.slowest < .seconds(10))
                try await withPool(standby.tcpURL) { pool in
                    try await FaultReport(fault: "primary stopped, standby promoted", times: 1, load: load).expectNothingLost(on: pool)
                }
                #expect(try await server.terminate().code == 0)
            }
        }

        @Test("without a standby: every post is 503 with Retry-After within 10 s, and the service goes on when the primary does")
        func alone() async throws {
            try await withScratchCluster { cluster in
                let server = try await ServerProcess.start(database: cluster.url, arguments: ["--migrate"])
                try await server.waitUntilReady()
                #expect(try await server.api.post("/attempts", text: SampleAttempt(id: "before", at: .now()).text).status == 201)
                try cluster.freeze()
                let start = ContinuousClock.now
                await withTaskGroup(of: API.Answer?.self) { group in
                    for number in 0..<12 {
                        group.addTask {
                            try? await server.api.post("/attempts", text: SampleAttempt(id: "hung-\(number)", at: .now()).text)
                        }
                    }
                    for await answer in group {
                        #expect(answer?.status == 503 && answer?[header: "retry-after"] != nil, "\(answer?.text ?? "no answer")")
                    }
                }
                #expect(ContinuousClock.now - start < .seconds(10), "\(ContinuousClock.now - start)")
                #expect(try await server.api.get("/health/ready").status == 503)
                cluster.thaw()
                try await server.waitUntilReady()
                #expect(try await server.api.post("/attempts", text: SampleAttempt(id: "after", at: .now()).text).status == 201)
                #expect(try await server.terminate().code == 0)
            }
        }
    }
}
