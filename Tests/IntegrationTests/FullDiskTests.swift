import Foundation
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("The database's disk is full", .enabled(if: SmallDisk.isAvailable, "needs leave to mount a file system (root)"))
    struct FullDiskTests {
        @Test("a full disk answers 503, the server survives it and continues by itself when there is space, and nothing is lost")
        func full() async throws {
            var soak = Soak(rounds: 1)
            // What is acknowledged stays, about 100 MB of it a minute.
            try await SmallDisk.with(megabytes: 220 + Int(200 * (Soak.minutes ?? 0))) { disk in
                let cluster = ScratchCluster(in: disk.directory, settings: ["max_wal_size": "64MB", "min_wal_size": "32MB"])
                defer { cluster.crash() }
                try await cluster.start()
                let server = try await ServerProcess.start(database: cluster.url, arguments: ["--migrate"])
                try await server.waitUntilReady()
                let load = PostingLoad(url: server.api.url, batchSize: 100)
                try await load.run(posters: 4) {
                    try await load.progress(400)
                    while soak.next() {
                        try disk.fill(leaving: 2)
                        try await eventually("attempts are refused") { (load.refusals[503] ?? 0) >= soak.rounds * 3 }
                        #expect(try await server.api.get("/health").status == 200)
                        try await eventually("readiness says that writing fails") {
                            let answer = try await server.api.get("/health/ready")
                            return answer.status == 503 && answer.text.contains("database")
                        }
                        disk.makeRoom()
                        // PostgreSQL itself ends when it cannot write its log; whoever runs it starts it again.
                        try await cluster.startIfDown()
                        try await server.waitUntilReady()
                        try await load.progress(400)
                    }
                }
                #expect(server.isRunning && !server.log.contains("Fatal"), "\(server.log.suffix(1000))")
                load.expectUnavailable()
                try await withPool(cluster.url) { pool in
                    try await FaultReport(fault: "disk full", times: soak.rounds, load: load).expectNothingLost(on: pool)
                }
                #expect(try await server.terminate().code == 0)
            }
        }
    }
}
