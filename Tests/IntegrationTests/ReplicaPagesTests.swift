import LocalPostgres
import Logging
import Postgres
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Pages from a streaming replica")
    struct ReplicaPagesTests {
        private static let source = "Read from a replica"

        private struct Site {
            var api: API
            var primary: PostgresPool
            var standby: LocalPostgres
            var replica: PostgresPool
            var log: RecordingLog

            func isFromReplica(_ path: String = "/") async throws -> Bool {
                let answer = try await api.get(path)
                #expect(answer.status == 200, "\(path): \(answer.text)")
                return answer.text.contains(ReplicaPagesTests.source)
            }

            func lines(_ text: String) -> Int { log.events.count { "\($0.message)".contains(text) } }
        }

        private func withSite(_ body: (Site) async throws -> Void) async throws {
            try await withStandby { primary, standby in
                var configuration = ServerConfiguration.bare(primary.url)
                configuration.readersURL = standby.tcpURL
                configuration.readersLag = .seconds(5)
                var hooks = PushwatchServer.Hooks()
                hooks.migrates = true
                let log = RecordingLog { "\($0.message)".contains("pages and backtests") }
                try await withPool(primary.url) { pool in
                    try await withPool(standby.tcpURL) { replica in
                        try await withServer(configuration, hooks: hooks, logger: log.logger) { url in
                            let api = API(url: url, bearer: RunningServer.bootstrapKey)
                            try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                            let site = Site(api: api, primary: pool, standby: standby, replica: replica, log: log)
                            try await eventually("the replica is read") { try await site.isFromReplica() }
                            try await body(site)
                        }
                    }
                }
            }
        }

        @Test("every page can be made from it and says so; what decides never reads it, nor does the API")
        func pages() async throws {
            try await withSite { site in
                let pages = [
                    "/", "/oncall/matches", "/oncall/rules", "/oncall/notifications", "/oncall/audit", "/oncall/sessions",
                    "/oncall/throttle",
                    "/people/u-1",
                ]
                for page in pages { #expect(try await site.isFromReplica(page), "\(page)") }
                #expect(try await site.api.post("/attempts", text: SampleAttempt(id: "a-1", at: .now()).text).status == 201)
                #expect(try await site.api.get("/attempts/a-1").status == 200)
                let names = try await site.replica.query(
                    "SELECT DISTINCT application_name FROM pg_stat_activity WHERE application_name LIKE 'pushwatch %'"
                ).map { try $0.decode(String.self) }
                #expect(names == ["pushwatch replica"])
            }
        }

        @Test("when it falls behind, or is away, the primary is read, and the log says so once; caught up, it is read again")
        func behind() async throws {
            try await withSite { site in
                try await site.replica.execute("SELECT pg_wal_replay_pause()")
                try await eventually("the primary is read") { try await !site.isFromReplica() }
                try await eventually("it is noticed") { site.lines("from the primary") == 1 }
                try await site.replica.execute("SELECT pg_wal_replay_resume()")
                try await eventually("the replica is read") { try await site.isFromReplica() }
                site.standby.stopBlocking(.immediate)
                // At once, before anybody has noticed.
                #expect(try await !site.isFromReplica())
                try await eventually("it is noticed") { site.lines("from the primary") == 2 }
                #expect(try await !site.isFromReplica())
                #expect(try await site.api.get("/health/ready").status == 200)
            }
        }

        @Test("who did something from a page sees it: the primary is read until the replica shows it")
        func ownActions() async throws {
            try await withSite { site in
                try await site.replica.execute("SELECT pg_wal_replay_pause()")
                #expect(try await site.isFromReplica())
                let done = try await site.api.call(
                    "POST",
                    "/oncall/throttle/lift",
                    type: "application/x-www-form-urlencoded",
                    headers: [("origin", site.api.url)],
                    body: Array("provider=apns&app=".utf8)
                )
                #expect(done.status == 303, "\(done.text)")
                #expect(try await !site.isFromReplica())
                try await site.replica.execute("SELECT pg_wal_replay_resume()")
                try await eventually("the replica is read") { try await site.isFromReplica() }
            }
        }

        @Test("a promoted one, which goes on without the primary's commits, is not read")
        func promoted() async throws {
            try await withSite { site in
                #expect(try await site.replica.query("SELECT pg_promote(true, 60)")[0].decode(Bool.self))
                try await eventually("the primary is read") { try await !site.isFromReplica() }
                try await eventually("it is noticed") { site.lines("from the primary") == 1 }
            }
        }
    }
}
