import Access
import Foundation
import HTTPServer
import Postgres
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Readers that take all they can get")
    struct ReaderLoadTests {
        @Test("a backtest that hangs has a connection of its own: it takes none from rules and notifications")
        func hangingBacktest() async throws {
            try await withDatabaseURL { database in
                try await withPool(database) { pool in
                    try await pool.withTransaction { blocker in
                        // What the first backtest reads first.
                        try await blocker.execute("LOCK TABLE alerts")
                        try await withServer(ServerConfiguration.bare(database)) { url in
                            try await eventually("a backtest hangs") {
                                try await pool.query(
                                    """
                                    SELECT count(*) = 1 FROM pg_stat_activity
                                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                                      AND application_name = 'pushwatch history'
                                    """
                                )[0].decode(Bool.self)
                            }
                            try await blocker.execute("COMMIT")
                            let api = API(url: url, bearer: nil)
                            try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                        }
                    }
                }
            }
        }

        @Test("60 reads at a time that hang: posts are stored, readiness is 200, too many of one caller are 429, the others 503 in time")
        func hangingReads() async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let api = API(url: url, bearer: RunningServer.bootstrapKey)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    let blocker = try await PostgresConnection.connect(PostgresConfiguration(url: database))
                    let apps = KeyApps.only(["com.example.scores"])
                    let key = try await APIKeyStore(blocker)
                        .create(name: "limited", scopes: [.attemptsWrite], apps: apps, createdBy: "test", now: .now())
                    let limited = api.with(bearer: key.text.text)
                    try await blocker.executeScript("BEGIN; LOCK TABLE auditEntries")
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        // One client opens 16 connections at most.
                        for _ in 0..<6 {
                            let reader = API(url: url, bearer: RunningServer.bootstrapKey)
                            for _ in 0..<10 { group.addTask { try await reader.get("/oncall/audit").status } }
                        }
                        try await eventually("reads hang") {
                            try await blocker.query("SELECT count(*) FROM pg_locks WHERE NOT granted")[0].decode(Int.self) >= 2
                        }
                        for number in 0..<20 {
                            let start = ContinuousClock.now
                            let caller = number % 2 == 0 ? api : limited
                            let answer = try await caller.post("/attempts", text: SampleAttempt(id: "a\(number)", at: .now()).text)
                            #expect(answer.status == 201, "\(answer.text)")
                            #expect(ContinuousClock.now - start < .seconds(5), "less than the 8 s after which the reads end")
                        }
                        #expect(try await api.get("/health/ready").status == 200)
                        #expect(try await blocker.query("SELECT count(*) FROM pg_locks WHERE NOT granted")[0].decode(Int.self) <= 4)
                        try await blocker.executeScript("ROLLBACK")
                        var statuses: [Int: Int] = [:]
                        for try await status in group { statuses[status, default: 0] += 1 }
                        #expect(statuses[429] == 40, "\(statuses)")
                        #expect(Set(statuses.keys).isSubset(of: [200, 429, 503]), "\(statuses)")
                    }
                }
            }
        }
    }
}
