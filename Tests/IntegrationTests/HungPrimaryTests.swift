import Foundation
import LocalPostgres
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("The primary hangs")
    struct HungPrimaryTests {
        @Test(
            "SIGSTOP under load, the standby is promoted: every post is answered within 10 s, posts flow again within 30 s, nothing is lost"
        )
        func promoted() async throws {
            try await SynchronousStandby.with { pair in
                let server = pair.server
                let load = PostingLoad(url: server.api.url)
                try await load.run(posters: 8) {
                    try await load.progress(400)
                    try pair.primary.freeze()
                    defer { pair.primary.thaw() }
                    let stopped = ContinuousClock.now
                    try await pair.promote()
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
                try await pair.expectNothingLost("primary stopped, standby promoted", load)
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
                let after = try await server.api.post("/attempts", text: SampleAttempt(id: "after", at: .now()).text)
                #expect(after.status == 201, "\(after.text)")
                #expect(try await server.terminate().code == 0)
            }
        }
    }
}
