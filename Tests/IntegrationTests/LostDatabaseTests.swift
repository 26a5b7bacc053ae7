import Foundation
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("The database dies under load")
    struct LostDatabaseTests {
        @Test("an immediate stop: 503 meanwhile, recovery by itself, nothing acknowledged lost")
        func crashed() async throws {
            var soak = Soak(rounds: 2)
            try await withScratchCluster { cluster in
                let server = try await ServerProcess.start(database: cluster.url, arguments: ["--migrate"])
                try await server.waitUntilReady()
                let load = PostingLoad(url: server.api.url)
                try await load.run(posters: 8) {
                    while soak.next() {
                        let crash = soak.rounds
                        try await load.progress(400)
                        cluster.crash()
                        let refused = try await eventually("attempts are refused") {
                            let attempt = SampleAttempt(id: "probe-\(crash)", at: .now())
                            let answer = try await server.api.post("/attempts", text: attempt.text)
                            return answer.status == 503 ? answer : nil
                        }
                        #expect(refused[header: "retry-after"].flatMap { Int($0) } != nil)
                        #expect(try await server.api.get("/health").status == 200)
                        #expect(try await server.api.get("/health/ready").status == 503)
                        try await cluster.start()
                        try await eventually("the server recovers") { try await server.api.get("/health/ready").status == 200 }
                    }
                    try await load.progress(400)
                }
                load.expectUnavailable()
                try await withPool(cluster.url) { pool in
                    try await FaultReport(fault: "pg immediate stop", times: soak.rounds, load: load).expectNothingLost(on: pool)
                }
                #expect(try await server.terminate().code == 0)
            }
        }
    }
}
