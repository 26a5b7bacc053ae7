import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("The answer to COMMIT is lost")
    struct LostCommitTests {
        private func withProxiedServer(_ body: (API, DatabaseProxy, Ledger) async throws -> Void) async throws {
            try await withDatabaseURL { database in
                let proxy = try DatabaseProxy(to: database)
                defer { proxy.stop() }
                // Only what ingests goes through the proxy.
                var configuration = ServerConfiguration.bare(proxy.url)
                configuration.adminDatabaseURL = database
                configuration.roles = [.api]
                try await withServer(configuration) { url in
                    let api = API(url: url, bearer: RunningServer.bootstrapKey)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    #expect(try await api.post("/attempts", text: SampleAttempt(id: "before", at: .now()).text).status == 201)
                    try await withPool(database) { try await body(api, proxy, Ledger(session: $0)) }
                }
            }
        }

        @Test("once: the server finds out by itself, and there is one row")
        func once() async throws {
            try await withProxiedServer { api, proxy, ledger in
                proxy.loseCommitAnswers(1)
                let answer = try await api.post("/attempts", text: SampleAttempt(id: "lost", at: .now()).text)
                #expect(proxy.lost == 1)
                #expect([200, 201].contains(answer.status), "\(answer.status) \(answer.text)")
                #expect(try await ledger.found(["lost"]) == 1)
                #expect(try await ledger.rows == 2)
                try await ledger.expectConsistent()
            }
        }

        @Test("again and again under load: what was acknowledged is there once, and nothing twice")
        func underLoad() async throws {
            var soak = Soak(rounds: 5)
            try await withProxiedServer { api, proxy, _ in
                let load = PostingLoad(url: api.url)
                try await load.run(posters: 8) {
                    while soak.next() {
                        let before = proxy.lost
                        proxy.loseCommitAnswers(2)
                        try await eventually("answers are lost") { proxy.lost >= before + 2 }
                        try await load.progress(200)
                    }
                }
                try await withPool(proxy.url) { pool in
                    try await FaultReport(fault: "answer to COMMIT lost", times: proxy.lost, load: load).expectNothingLost(on: pool)
                }
            }
        }

        @Test("until the server gives up: the caller gets 503 and resends, which is a duplicate, and there is one row")
        func resend() async throws {
            try await withProxiedServer { api, proxy, ledger in
                proxy.loseCommitAnswers(1_000)
                let attempt = SampleAttempt(id: "lost", at: .now())
                let refused = try await api.post("/attempts", text: attempt.text)
                #expect(refused.status == 503, "\(refused.status) \(refused.text)")
                #expect(refused[header: "retry-after"] != nil)
                #expect(proxy.lost >= 1)
                #expect(try await ledger.found(["lost"]) == 1)
                proxy.loseCommitAnswers(0)
                var restamped = attempt
                restamped.at = attempt.at - .seconds(90_000)
                let answer = try await eventually("the resend is answered") {
                    let answer = try await api.post("/attempts", text: restamped.text)
                    return answer.status == 503 ? nil : answer
                }
                #expect(answer.status == 200 && answer.json["result"] as? String == "duplicate", "\(answer.text)")
                #expect(try await ledger.rows == 2)
                try await ledger.expectConsistent()
            }
        }
    }
}
