import Attempts
import Foundation
import LocalPostgres
import Logging
import Postgres
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Faults at the start")
    struct StartFaultTests {
        @Test(
            "a wrong .p8 is refused at the start, with what is wrong",
            arguments: ["not a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", nil]
        )
        func wrongKey(text: String?) async throws {
            try await withTestDirectory { directory in
                var configuration = ServerConfiguration.bare("postgresql://nobody@127.0.0.1:1/none")
                let path = directory + "/key.p8"
                try text?.write(toFile: path, atomically: true, encoding: .utf8)
                configuration.apns = .init(
                    teamId: "TEAM123456",
                    keyId: "KEY1234567",
                    keyFile: path,
                    productionURL: "https://127.0.0.1:1",
                    sandboxURL: "https://127.0.0.1:1"
                )
                let error = try await #require(throws: ConfigurationError.self) {
                    try await withServer(configuration) { _ in }
                }
                let fault = text == nil ? "\(path) cannot be read" : "The .p8 file of APNs key KEY1234567 is not an EC private key"
                #expect(error.description.contains(fault), "\(error)")
                #expect(!error.description.contains("not a key") && !error.description.contains("AAAA"), "\(error)")
            }
        }

        @Test("with a rule file that cannot be read the service keeps serving, and readiness says so until it is fixed")
        func brokenRules() async throws {
            try await withTestDirectory { directory in
                let alerts = directory + "/alerts"
                try FileManager.default.copyItem(atPath: ProjectDirectory.alerts, toPath: alerts)
                try await withServer(adjust: { $0.alertsDirectory = alerts }) { server in
                    let file = alerts + "/rules/broken.yml"
                    try "groups: [ {".write(toFile: file, atomically: false, encoding: .utf8)
                    let said = try await eventually("readiness names the rules") {
                        let answer = try await server.api.with(bearer: nil).get("/health/ready")
                        return answer.array("checks").contains { $0["name"] as? String == "rules" && $0["status"] as? String != "ok" }
                            ? answer : nil
                    }
                    #expect(said.text.contains("rule file"), "\(said.text)")
                    #expect(try await server.api.post("/attempts", text: SampleAttempt(id: "served", at: .now()).text).status == 201)
                    try FileManager.default.removeItem(atPath: file)
                    try await eventually("readiness recovers") {
                        try await server.api.get("/health/ready").json["status"] as? String == "ready"
                    }
                }
            }
        }

        private func serve(_ settings: [String: String], _ arguments: [String] = []) async throws -> Shell.Done {
            let own = [
                "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "TOKEN_KEYS": TestTokenKeys.file, "HTTP_PORT": "0",
                "PUBLIC_URL": "http://127.0.0.1",
            ]
            let all = own.merging(settings) { $1 }.map { ("PUSHWATCH_" + $0.key, $0.value) }
            return try await Shell.run(
                ServerProcess.binary,
                ["serve"] + arguments,
                in: ProjectDirectory.root,
                environment: Dictionary(uniqueKeysWithValues: all)
            )
        }

        @Test("an address that cannot be listened on ends the start with exit code 3 and names the setting")
        func notListening() async throws {
            try await withAlertHook { hook in
                let port = try #require(hook.url.firstMatch(of: /:([0-9]+)\//)?.1)
                for (settings, sentence) in [
                    (["HTTP_PORT": "\(port)"], "PUSHWATCH_HTTP_PORT (`http.port`): port \(port) of 127.0.0.1 is in use"),
                    (["OPERATORS_PORT": "\(port)"], "PUSHWATCH_OPERATORS_PORT (`operators.port`): port \(port) of 127.0.0.1 is in use"),
                    (["HTTP_HOST": "192.0.2.1"], "PUSHWATCH_HTTP_HOST (`http.host`): 192.0.2.1 is not an address of this machine"),
                    (["HTTP_HOST": "nowhere.invalid"], "PUSHWATCH_HTTP_HOST (`http.host`): `nowhere.invalid` is not a host"),
                ] {
                    let done = try await serve(settings)
                    #expect(done.code == 3 && done.output.contains(sentence), "\(done.output)")
                    #expect(!done.output.contains("CancellationError"), "\(done.output)")
                }
            }
        }

        @Test("without `public.url` an instance that evaluates alerts does not start on a port that the system chooses")
        func withoutPublicURL() async throws {
            for (settings, port) in [
                ([:], "http.port"), (["HTTP_PORT": "8080", "OPERATORS_PORT": "0"], "operators.port"),
            ] as [([String: String], String)] {
                let done = try await serve(settings.merging(["PUBLIC_URL": ""]) { $1 })
                #expect(done.code == 2 && done.output.contains("PUSHWATCH_PUBLIC_URL (`public.url`) is required"), "\(done.output)")
                #expect(done.output.contains("(`\(port)`) is 0"), "\(done.output)")
            }
            let server = try await ServerProcess.start(
                database: "postgresql://nobody@127.0.0.1:1/none",
                settings: ["PUBLIC_URL": ""],
                arguments: ["--role", "api,send,live"]
            )
            #expect(try await server.terminate().code == 0)
        }

        @Test("an instance that evaluates alerts does not start without rules; one with other roles does not need them")
        func withoutRules() async throws {
            try await withTestDirectory { directory in
                let done = try await serve(["ALERTS_DIRECTORY": directory], ["--role", "alert"])
                #expect(done.code == 3 && done.output.contains("(`alerts.directory`): \(directory) has no rule file"), "\(done.output)")
                let server = try await ServerProcess.start(
                    database: "postgresql://nobody@127.0.0.1:1/none",
                    settings: ["ALERTS_DIRECTORY": directory],
                    arguments: ["--role", "api,send"]
                )
                #expect(try await server.terminate().code == 0)
            }
        }

        @Test("an instance that evaluates alerts does not start with a broken receivers.yml; one with other roles does")
        func brokenReceivers() async throws {
            try await withTestDirectory { directory in
                let alerts = directory + "/alerts"
                try FileManager.default.copyItem(atPath: ProjectDirectory.alerts, toPath: alerts)
                let text = #"receivers: [{ name: pager, pagerduty: { routing_key: "${MISSING_KEY}" } }]"#
                try text.write(toFile: alerts + "/receivers.yml", atomically: true, encoding: .utf8)
                let done = try await serve(["ALERTS_DIRECTORY": alerts], ["--role", "alert"])
                #expect(done.code == 3 && done.output.contains("(`alerts.directory`): \(alerts)/receivers.yml:1: "), "\(done.output)")
                #expect(done.output.contains("the environment has no MISSING_KEY"), "\(done.output)")
                let server = try await ServerProcess.start(
                    database: "postgresql://nobody@127.0.0.1:1/none",
                    settings: ["ALERTS_DIRECTORY": alerts],
                    arguments: ["--role", "api,send"]
                )
                let ready = try await server.api.get("/health/ready").text
                #expect(ready.contains("receivers.yml is broken; none of its receivers is in force"), "\(ready)")
                #expect(try await server.terminate().code == 0)
            }
        }

        @Test("a file of users' keys without a usable one ends the start with exit code 3 and names the setting")
        func brokenKeySet() async throws {
            try await withTestDirectory { directory in
                let file = directory + "/jwks.json"
                for text in ["not a key set", #"{"keys": []}"#] {
                    try text.write(toFile: file, atomically: true, encoding: .utf8)
                    let done = try await serve(["USERS_JWKS": file, "USERS_ISSUER": "https://issuer.example"], ["--role", "api"])
                    #expect(done.code == 3, "\(done.output)")
                    #expect(done.output.contains("(`users.jwks`): \(file) cannot be used: no JWKS with a usable key"), "\(done.output)")
                }
            }
        }

        @Test("while users' keys cannot be loaded from their address, readiness is degraded before the first user comes")
        func keySetAway() async throws {
            let users = ServerConfiguration.Users(issuer: UserIssuer.issuer, audience: nil, jwks: "https://127.0.0.1:1/jwks")
            try await withServer(adjust: { $0.users = users }) { server in
                try await eventually("readiness names the keys") {
                    let ready = try await server.api.get("/health/ready")
                    return ready.status == 200 && ready.json["status"] as? String == "degraded"
                        && ready.text.contains("the keys of their issuer cannot be loaded: ")
                }
            }
        }

        @Test("without a receiver but the log a start warns that nobody is notified")
        func withoutReceivers() async throws {
            try await withDatabaseURL { database in
                for (url, count) in [(nil, 1), ("http://127.0.0.1:1/hook", 0)] as [(String?, Int)] {
                    let log = RecordingLog { $0.level == .warning && "\($0.message)".contains("nobody is notified") }
                    var configuration = ServerConfiguration.bare(database)
                    configuration.webhookURL = url
                    try await withServer(configuration, logger: log.logger) { url in
                        let api = API(url: url, bearer: nil)
                        try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    }
                    #expect(log.events.count == count, "\(url ?? "none")")
                }
            }
        }

        @Test("SIGTERM or SIGHUP while it waits for the database ends it with 0", arguments: [SIGTERM, SIGHUP])
        func terminatedWhileWaiting(signal: Int32) async throws {
            let server = try await ServerProcess.start(database: "postgresql://nobody@127.0.0.1:1/none")
            #expect(try await server.api.get("/health").status == 200)
            try await eventually("readiness names the cause") {
                let ready = try await server.api.get("/health/ready").text
                return ready.contains("cannot be reached: Connection refused") && ready.contains("limiters cannot be read")
            }
            let end = try await server.terminate(by: signal)
            #expect(end.code == 0, "\(server.log.suffix(2000))")
            #expect(end.took < .seconds(20))
        }

        @Test("a database without the schema is refused at the start, with what to do")
        func schemaMissing() async throws {
            try await withDatabaseURL(migrated: false) { database in
                let error = try await #require(throws: ConfigurationError.self) {
                    try await withServer(ServerConfiguration.bare(database)) { url in
                        try await eventually("the server ends") { (try? await API(url: url, bearer: nil).get("/health")) == nil }
                    }
                }
                #expect(error.description.contains("pushwatch migrate"), "\(error)")
            }
        }

        @Test("`serve` before `migrate` ends with one line that names the command; its debug log lists no services")
        func serveBeforeMigrate() async throws {
            try await withDatabaseURL(migrated: false) { database in
                for level in ["info", "debug"] {
                    let environment = [
                        "PUSHWATCH_DATABASE_URL": database, "PUSHWATCH_TOKEN_KEYS": TestTokenKeys.file, "PUSHWATCH_HTTP_PORT": "0",
                        "PUSHWATCH_PUBLIC_URL": "http://127.0.0.1", "PUSHWATCH_LOG_LEVEL": level,
                    ]
                    let done = try await Shell.run(ServerProcess.binary, ["serve"], in: ProjectDirectory.root, environment: environment)
                    #expect(done.code == 3)
                    let lines = done.output.split(separator: "\n")
                    #expect(lines.last?.contains("Run `pushwatch migrate`") == true, "\(done.output)")
                    #expect(lines.count { !$0.contains("level=info") && !$0.contains("level=notice") && !$0.contains("level=debug") } == 1)
                    #expect(!done.output.contains("sl-service") && lines.allSatisfy { $0.count < 400 }, "\(done.output.prefix(3000))")
                }
            }
        }

        @Test("with `log.format: json` every line is JSON, the last one the reason why it ends")
        func reasonInJSON() async throws {
            try await withDatabaseURL(migrated: false) { database in
                let done = try await serve(["DATABASE_URL": database, "LOG_FORMAT": "json"])
                #expect(done.code == 3)
                let lines = try done.output.split(separator: "\n").map { line in
                    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(done.output)")
                }
                let last = try #require(lines.last)
                #expect(last["level"] as? String == "critical" && (last["msg"] as? String)?.contains("Run `pushwatch migrate`") == true)
            }
        }

        @Test("series are there before their first event, with their help")
        func series() async throws {
            try await withDatabaseURL { database in
                let server = try await ServerProcess.start(database: database, settings: ["METRICS_OPEN": "true"])
                try await server.waitUntilReady()
                let lines = [
                    "# HELP pushwatch_ingest_waiting_rows Attempts that wait to be written.", "pushwatch_ingest_waiting_rows 0",
                    "pushwatch_ingest_failed_commits_total 0", "pushwatch_partition_drop_failures_total 0",
                    "pushwatch_sends_leases_expired_total 0",
                    "pushwatch_alert_notifications_total{receiver=\"log\",result=\"deadLettered\"} 0",
                ]
                try await eventually("every one is there") {
                    let metrics = try await server.api.get("/metrics").text
                    return lines.allSatisfy { metrics.contains($0 + "\n") }
                }
                #expect(try await server.terminate().code == 0)
            }
        }

        @Test("an expired partition that cannot be dropped stops no start: it is logged and counted")
        func partitionThatStays() async throws {
            try await withDatabaseURL { database in
                try await withPool(database) { pool in
                    let day = Timestamp.now().day - 100
                    try await PartitionMaintenance(pool: pool, logger: .silent).ensurePartitions(forDays: [day])
                    let partitions =
                        "SELECT min(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'notificationDeliveryAttempts'::regclass"
                    let oldest = try await pool.query("\(raw: partitions)")[0].decode(String.self)
                    try await pool.execute("CREATE VIEW kept AS SELECT uid FROM \(raw: oldest)")
                }
                let server = try await ServerProcess.start(database: database)
                try await server.waitUntilReady()
                #expect(server.log.contains("an expired partition could not be dropped"))
                // It is tried at the start and then from time to time.
                let metrics = try await server.api.get("/metrics").text
                #expect(metrics.contains(/pushwatch_partition_drop_failures_total [1-9]/), "\(metrics)")
                #expect(try await server.api.post("/attempts", text: SampleAttempt(id: "on", at: .now()).text).status == 201)
                #expect(try await server.terminate().code == 0)
            }
        }

        @Test("partitions that cannot be made stop no start: it works on those that are there")
        func partitionsThatCannotBeMade() async throws {
            try await withDatabaseURL { database in
                try await withPool(database) { pool in
                    try await PartitionMaintenance(pool: pool, logger: .silent).maintain()
                    let last = try await pool.query(
                        "SELECT max(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'notificationDeliveryAttempts'::regclass"
                    )[0].decode(String.self)
                    try await pool.execute("DROP TABLE \(raw: last)")
                    let log = RecordingLog { $0.level == .error }
                    try await pool.withTransaction { transaction in
                        try await SchemaLock.acquire(on: transaction)
                        try await withServer(ServerConfiguration.bare(database), logger: log.logger) { url in
                            let api = API(url: url, bearer: RunningServer.bootstrapKey)
                            try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                            #expect(try await api.post("/attempts", text: SampleAttempt(id: "on", at: .now()).text).status == 201)
                        }
                    }
                    #expect(log.events.contains { "\($0.message)".contains("partitions could not be maintained") })
                }
            }
        }

        @Test("a server of an older version is refused with one sentence; a newer one is mentioned once and used")
        func versions() async throws {
            try await withDatabaseURL { database in
                let older = try DatabaseProxy(to: database, majorVersion: 14)
                defer { older.stop() }
                let error = try await #require(throws: ConfigurationError.self) {
                    try await withServer(ServerConfiguration.bare(older.url)) { url in
                        try await eventually("the server ends") { (try? await API(url: url, bearer: nil).get("/health")) == nil }
                    }
                }
                #expect(error.description.contains("PostgreSQL 14") && error.description.contains("15 to 18"), "\(error)")
                let newer = try DatabaseProxy(to: database, majorVersion: 19)
                defer { newer.stop() }
                let log = RecordingLog { $0.level == .warning && "\($0.metadata?["detail"] ?? "")".contains("PostgreSQL 19") }
                try await withServer(ServerConfiguration.bare(newer.url), logger: log.logger) { url in
                    let api = API(url: url, bearer: RunningServer.bootstrapKey)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                }
                #expect(log.events.count == 1)
            }
        }

        @Test("without its database it waits, says so, and begins by itself when the database comes")
        func databaseAway() async throws {
            try await withScratchCluster { cluster in
                try await Migrator(
                    configuration: PostgresConfiguration(url: cluster.url),
                    directory: ProjectDirectory.migrations,
                    logger: .silent
                ).migrate()
                cluster.crash()
                var configuration = ServerConfiguration.bare(cluster.url)
                configuration.roles = [.api]
                try await withServer(configuration) { url in
                    let api = API(url: url, bearer: RunningServer.bootstrapKey)
                    #expect(try await api.get("/health").status == 200)
                    #expect(try await api.get("/health/ready").status == 503)
                    let refused = try await api.post("/attempts", text: SampleAttempt(id: "early", at: .now()).text)
                    #expect(refused.status == 503)
                    #expect(refused[header: "retry-after"].flatMap { Int($0) } != nil)
                    try await cluster.start()
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    #expect(try await api.post("/attempts", text: SampleAttempt(id: "early", at: .now()).text).status == 201)
                }
            }
        }
    }
}
