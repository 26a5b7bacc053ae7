import Foundation
import Postgres
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("pushwatch alerts test")
    struct TestNotificationTests {
        private func test(_ database: String, _ arguments: [String] = [], settings: [String: String] = [:]) async throws -> Shell.Done {
            var environment = ["PUSHWATCH_DATABASE_URL": database]
            for (name, value) in settings { environment["PUSHWATCH_" + name] = value }
            return try await Shell.run(ServerProcess.binary, ["alerts", "test"] + arguments, environment: environment)
        }

        @Test("without a running service nothing is written and nothing is delivered: exit code 1, and what to do")
        func noService() async throws {
            try await withDatabaseURL { database in
                try await withPool(database) { pool in
                    let done = try await test(database)
                    #expect(done.code == 1, "\(done.output)")
                    #expect(done.output.contains("No running service delivers notifications"), "\(done.output)")
                    #expect(try await pool.query("SELECT count(*) FROM notifications")[0].decode(Int.self) == 0)
                }
            }
        }

        @Test("the service delivers to its own receivers; one that it does not have fails the test and is withdrawn, by Ctrl-C too")
        func service() async throws {
            try await withDatabaseURL { database in
                try await withAlertHook { hook in
                    let settings = ["ALERTS_WEBHOOK_URL": hook.url]
                    let server = try await ServerProcess.start(database: database, settings: settings)
                    try await server.waitUntilReady()
                    try await withPool(database) { pool in
                        try await eventually("notifications are delivered") {
                            try await pool.query("SELECT count(*) FROM alertLeases WHERE name = 'notifier'")[0].decode(Int.self) == 1
                        }
                        let good = try await test(database, settings: settings)
                        #expect(good.code == 0, "\(good.output)")
                        #expect(hook.alerts.map(\.status) == ["firing", "resolved"])
                        // Not in this command's configuration, and known from the notifications of the last days.
                        let other = try await test(database, ["--receiver", "webhook"])
                        #expect(other.code == 0, "\(other.output)")
                        try await pool.execute("UPDATE notifications SET receiver = 'pager' WHERE receiver = 'webhook'")
                        let unknown = try await test(database, ["--receiver", "pager", "--timeout", "2s"])
                        #expect(unknown.code == 1 && unknown.output.contains("Not reached: pager"), "\(unknown.output)")
                        #expect(try await pool.query("SELECT count(*) FROM notifications WHERE state = 'pending'")[0].decode(Int.self) == 0)
                        let waiting = try RunningCommand(["alerts", "test", "--receiver", "pager"], settings: ["DATABASE_URL": database])
                        let firing = {
                            try await pool.query(
                                "SELECT count(*) FROM alerts WHERE state = 'firing' AND rule = 'PushwatchTestNotification'"
                            )[0].decode(Int.self)
                        }
                        try await eventually("the test alert fires") { try await firing() == 1 }
                        #expect(try await waiting.interrupt() == 130, "\(waiting.text)")
                        #expect(waiting.text.contains("The test alert is resolved"), "\(waiting.text)")
                        #expect(try await firing() == 0)
                        #expect(try await pool.query("SELECT count(*) FROM notifications WHERE state = 'pending'")[0].decode(Int.self) == 0)
                        let misspelt = try await test(database, ["--receiver", "pagr"])
                        #expect(misspelt.code == 1 && misspelt.output.contains("No receiver is called `pagr`"), "\(misspelt.output)")
                    }
                    #expect(try await server.terminate().code == 0)
                }
            }
        }
    }
}
