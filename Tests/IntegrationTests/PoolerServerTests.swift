import Attempts
import Foundation
import Postgres
import ProviderSimulator
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite(
        "Behind PgBouncer in transaction mode",
        .enabled(if: PgBouncer.isInstalled, Comment(rawValue: PgBouncer.absence))
    )
    struct PoolerServerTests {
        @Test("three servers: 1,000 attempts posted four times are 1,000 rows, counted once; each send is delivered once; fsck is clean")
        func threeServers() async throws {
            try await withDatabaseURL(migrated: false) { database in
                try await PgBouncer.running(before: database, sessions: 12) { url in
                    try await withTestDirectory { directory in
                        try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                            var settings = try ProviderFiles(simulator, endpoints, directory: directory).apns
                            settings["DATABASE_PREPARES_STATEMENTS"] = "false"
                            var servers: [ServerProcess] = []
                            for _ in 0..<3 {
                                servers.append(try await ServerProcess.start(database: url, settings: settings, arguments: ["--migrate"]))
                            }
                            for server in servers { try await server.waitUntilReady() }
                            let attempts = DoubledAttempts()
                            async let posting = attempts.post(to: servers.map(\.api))
                            let tokens = try await send(120, through: servers)
                            #expect(try await posting == 1_000, "each is accepted once, whoever asks")
                            try await eventually("every send has arrived") {
                                tokens.allSatisfy { simulator.requests(token: $0).count >= 1 }
                            }
                            try await withPool(database) { pool in
                                try await eventually("every send is finished") {
                                    try await pool.query("SELECT count(*) FROM pushFinished")[0].decode(Int.self) >= tokens.count
                                }
                                #expect(tokens.allSatisfy { simulator.requests(token: $0).count == 1 }, "each is delivered once")
                                try await attempts.expectOnce(in: pool, others: tokens.count)
                            }
                            let fsck = try RunningCommand(
                                ["fsck"],
                                settings: ["DATABASE_URL": url, "DATABASE_PREPARES_STATEMENTS": "false"]
                            )
                            #expect(try await fsck.ended() == 0, "\(fsck.text)")
                            for server in servers {
                                #expect(try await server.terminate().code == 0)
                                for sign in ["42P05", "26000", "prepared statement", "level=error"] {
                                    #expect(!server.log.contains(sign), "\(sign): \(server.log.suffix(3_000))")
                                }
                            }
                        }
                    }
                }
            }
        }

        @Test(
            "with preparesStatements left on the service ends at its start with one sentence that names the setting",
            arguments: [
                [:], ["ignore_startup_parameters": "options"],
            ]
        )
        func preparationLeftOn(pooler: [String: String]) async throws {
            try await withDatabaseURL { database in
                try await PgBouncer.running(before: database, sessions: 12, settings: pooler) { url in
                    let environment = [
                        "PUSHWATCH_DATABASE_URL": url, "PUSHWATCH_TOKEN_KEYS": TestTokenKeys.file, "PUSHWATCH_HTTP_PORT": "0",
                        "PUSHWATCH_PUBLIC_URL": "http://127.0.0.1",
                    ]
                    let done = try await Shell.run(ServerProcess.binary, ["serve"], in: ProjectDirectory.root, environment: environment)
                    #expect(done.code == 3, "\(done.output)")
                    let sentences = done.output.split(separator: "\n").filter { $0.contains("database.preparesStatements: false") }
                    #expect(sentences.count == 1 && sentences[0].contains("`database.url` leads to a connection pooler"), "\(done.output)")
                    #expect(!done.output.contains("level=error") && !done.output.contains("level=warning"), "\(done.output)")
                }
            }
        }

        @Test("with preparesStatements left on commands name the setting", arguments: [["keys", "list"], ["migrate", "--status"]])
        func commandWithPreparationLeftOn(arguments: [String]) async throws {
            try await withDatabaseURL { database in
                try await PgBouncer.running(before: database, sessions: 12) { url in
                    let environment = ["PUSHWATCH_DATABASE_URL": url]
                    let done = try await Shell.run(ServerProcess.binary, arguments, in: ProjectDirectory.root, environment: environment)
                    #expect(done.code == 3 && done.output.contains("set `database.preparesStatements: false`"), "\(done.output)")
                }
            }
        }

        /// Sends to as many tokens, to each server its part, eight at a time; the tokens.
        private func send(_ count: Int, through servers: [ServerProcess]) async throws -> [String] {
            let tokens = (0..<count).map { _ in (0..<32).map { _ in String(UInt8.random(in: 16...255), radix: 16) }.joined() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, token) in tokens.enumerated() {
                    let api = servers[index % servers.count].api
                    group.addTask {
                        let answer = try await api.post(
                            "/sends",
                            [
                                "sendId": "send-\(index)", "token": token, "provider": "apns", "environment": "sandbox",
                                "app": "com.example.scores", "title": "Kick-off",
                            ]
                        )
                        #expect(answer.status == 202, "\(answer.text)")
                    }
                    if index >= 7 { try await group.next() }
                }
                try await group.waitForAll()
            }
            return tokens
        }
    }
}
