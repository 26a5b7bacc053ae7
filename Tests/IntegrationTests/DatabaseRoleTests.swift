import Delivery
import Foundation
import Logging
import Postgres
import ProviderSimulator
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    /// `sql/migrations/roles.sql`: what each job may do, and that it is enough.
    @Suite("Database roles")
    struct DatabaseRoleTests {
        private static func isDenial(_ event: LogEvent) -> Bool {
            let line = "\(event.message) \(event.metadata ?? [:]) \(event.error.map { "\($0)" } ?? "")"
            return line.contains("42501") || line.contains("permission denied")
        }

        /// A login that is a member of some groups, for the time of a test: roles belong to the whole cluster.
        private struct Login {
            let name = "job_\(UInt32.random(in: 0..<UInt32.max))"
            let database: String

            var url: String { database + (database.contains("?") ? "&" : "?") + "user=\(name)" }
        }

        private func withLogin<Value>(_ group: String, _ database: String, _ body: (Login) async throws -> Value) async throws -> Value {
            let login = Login(database: database)
            let owner = try await PostgresConnection.connect(PostgresConfiguration(url: database))
            try await owner.executeScript("CREATE ROLE \(login.name) LOGIN IN ROLE \(group)")
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(login))
            } catch {
                result = .failure(error)
            }
            try await owner.executeScript("DROP ROLE \(login.name)")
            return try result.get()
        }

        @Test("three instances, each with the database rights of its job and no more, do the whole work; nothing is denied to them")
        func enough() async throws {
            // What a server says of things that the database denied it.
            let denied = RecordingLog { Self.isDenial($0) }
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                        let issuer = try UserIssuer(directory: directory)
                        var whole = try ServerConfiguration.forTests(database, simulator, endpoints, directory: directory)
                        whole.users = .init(issuer: UserIssuer.issuer, audience: nil, jwks: issuer.jwksPath)
                        whole.adminDatabaseURL = database
                        whole.alertsLag = .zero
                        try await withLogin("pushwatch_ingest", database) { ingest in
                            try await withLogin("pushwatch_sender", database) { sender in
                                try await withLogin("pushwatch_alerter", database) { alerter in
                                    let jobs = [
                                        instance(whole, of: [.api], as: ingest), instance(whole, of: [.send, .live], as: sender),
                                        instance(whole, of: [.alert], as: alerter),
                                    ]
                                    try await withServer(jobs[0], logger: denied.logger) { url in
                                        try await withServer(jobs[1], logger: denied.logger) { _ in
                                            try await withServer(jobs[2], logger: denied.logger) { _ in
                                                let api = API(url: url, bearer: RunningServer.bootstrapKey)
                                                try await work(api, try issuer.token(userId: "ada"), simulator, database)
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            #expect(denied.events.map { "\($0.message) \($0.metadata ?? [:])" } == [], "denied to a job")
        }

        private func instance(_ whole: ServerConfiguration, of roles: Set<ServerConfiguration.Role>, as login: Login) -> ServerConfiguration
        {
            var configuration = whole
            configuration.databaseURL = login.url
            configuration.roles = roles
            return configuration
        }

        /// A day's work in small: reports, devices, sends, a match, alerts.
        private func work(_ api: API, _ token: String, _ simulator: ProviderSimulator, _ database: String) async throws {
            let user = api.with(bearer: token)
            let owner = PostgresPool(configuration: PostgresConfiguration(url: database, maxConnections: 1), logger: .silent)
            defer { owner.close() }
            func expect(_ status: Int, _ answer: API.Answer) { #expect(answer.status == status, "\(answer.text)") }

            try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
            var attempt = SampleAttempt(id: "one", at: .now()).json
            attempt["status"] = "queued"
            expect(201, try await api.post("/attempts", attempt))
            attempt["status"] = "sent"
            expect(201, try await api.post("/attempts", attempt))
            expect(200, try await api.post("/attempts", attempt))

            let (push, start) = (String(repeating: "5a", count: 32), String(repeating: "5b", count: 40))
            let device = ["deviceId": "phone", "pushToken": push, "platform": "ios", "environment": "sandbox", "app": "com.example.scores"]
            expect(200, try await user.post("/devices", device.merging(["osVersion": "18.0"]) { $1 }))
            expect(
                200,
                try await user.post("/devices/push-to-start-token", ["deviceId": "phone", "pushToStartToken": start, "osVersion": "18.0"])
            )
            expect(202, try await api.post("/sends", ["sendId": "good", "deviceId": "phone", "title": "One", "body": "Two"]))
            try await eventually("the push is sent") { try await api.get("/sends/good").json["state"] as? String == "sent" }

            expect(200, try await user.post("/user/follow/match", ["matchId": "m"]))
            let teams = [["name": "One", "short": "ONE"], ["name": "Two", "short": "TWO"]]
            for (sequence, phase) in [(1, "scheduled"), (2, "live")] {
                let score: [String: Any] = [
                    "matchId": "m", "sequence": sequence, "updatedAt": "2026-02-12T09:30:00Z", "phase": phase, "teams": teams,
                ]
                let body = Array(try JSONSerialization.data(withJSONObject: score))
                expect(200, try await api.call("PUT", "/matches/m", type: "application/json", body: body))
            }
            try await eventually("the activity is started") { !simulator.requests(token: start).isEmpty }

            simulator.setFaults([FaultRule(.apns, status: 410, reason: "Unregistered")])
            expect(202, try await api.post("/sends", ["sendId": "refused", "deviceId": "phone", "title": "One", "body": "Two"]))
            try await eventually("the dead token is off") { try await api.get("/sends/refused").json["state"] as? String == "failed" }

            let throttle = Array(try JSONSerialization.data(withJSONObject: ["perMinute": 60, "reason": "test"]))
            expect(200, try await api.call("PUT", "/sends/throttle", type: "application/json", body: throttle))
            expect(200, try await api.call("DELETE", "/sends/throttle"))
            let ends = Timestamp.now() + .seconds(600)
            let silence = try await api.post(
                "/silences",
                ["matchers": [["name": "alertname", "value": "none"]], "endsAt": ends.rfc3339, "reason": "test"]
            )
            expect(201, silence)
            let id = try #require((silence.json["silence"] as? [String: Any])?["id"] as? String)
            expect(204, try await api.call("DELETE", "/silences/\(id)"))
            for page in [
                "/", "/people/ada", "/oncall/rules", "/oncall/notifications", "/oncall/audit", "/alerts", "/sends/backlog", "/sends/dead",
            ] {
                expect(200, try await api.get(page))
            }
            try await eventually("the rules are evaluated") {
                try await owner.query("SELECT count(*) FROM alertRuleProgress")[0].decode(Int.self) > 0
            }
        }

        @Test("what the owner of the tables alone may do, commands do with its address")
        func owner() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let file = directory + "/old.ndjson"
                    // Of a day without a partition.
                    let text = SampleAttempt(id: "old", at: .now() - .seconds(20 * 86_400)).text + "\n"
                    try text.write(toFile: file, atomically: true, encoding: .utf8)
                    try await withLogin("pushwatch_sender", database) { login in
                        let settings = ["PUSHWATCH_DATABASE_URL": login.url, "PUSHWATCH_ADMIN_DATABASE_URL": database]
                        for arguments in [
                            ["keys", "create", "--name", "one", "--scope", "alerts:read"], ["keys", "list"], ["fsck", "--check", "alerts"],
                            ["attempts", "import", file],
                        ] {
                            let done = try await Shell.run(ServerProcess.binary, arguments, environment: settings)
                            #expect(done.code == 0, "\(arguments): \(done.output)")
                        }
                    }
                }
            }
        }

        @Test(
            "who ends silent subjects, and who samples them for alerts, reads what confirms them",
            arguments: ["pushwatch_sender", "pushwatch_alerter"]
        )
        func sources(_ group: String) async throws {
            try await withDatabaseURL { database in
                try await withLogin(group, database) { login in
                    let connection = try await PostgresConnection.connect(PostgresConfiguration(url: login.url))
                    try await connection.executeScript("SELECT * FROM subjectSources")
                }
            }
        }

        @Test("who samples the queue for alerts may read its backlog")
        func backlog() async throws {
            try await withDatabaseURL { database in
                try await withLogin("pushwatch_alerter", database) { login in
                    let pool = PostgresPool(configuration: PostgresConfiguration(url: login.url, maxConnections: 1), logger: .silent)
                    defer { pool.close() }
                    let backlog = try await SendStore(pool: pool, record: { _, _ in }).backlog()
                    #expect(backlog.queues.isEmpty)
                }
            }
        }

        @Test("no job may change the schema, empty a table or delete attempts; each is closed to what it does not need")
        func noMore() async throws {
            let common = [
                "CREATE TABLE mine (x int)", "DROP TABLE pushSends", "ALTER TABLE devices ADD COLUMN x int",
                "TRUNCATE notificationDeliveryAttempts",
                "DELETE FROM notificationDeliveryAttempts", "DELETE FROM attemptLedger", "UPDATE schemaMigrations SET checksum = ''",
                "UPDATE analystColumns SET columns = '*'", "INSERT INTO apiKeys SELECT * FROM apiKeys",
                "UPDATE apiKeys SET scopes = scopes",
                "UPDATE auditEntries SET actor = ''", "DELETE FROM auditEntries", "TRUNCATE auditEntries",
                "SELECT grantAnalystAccess()", "SET ROLE pushwatch_analyst",
            ]
            let own = [
                "pushwatch_ingest": [
                    "DELETE FROM alerts", "INSERT INTO alerts SELECT * FROM alerts",
                    "UPDATE alertRuleProgress SET asOf = asOf",
                ],
                "pushwatch_sender": [
                    "SELECT FROM apiKeys", "SELECT FROM sessions", "SELECT FROM auditEntries", "SELECT FROM signInTickets",
                    "SELECT FROM alerts", "INSERT INTO alertSilences SELECT * FROM alertSilences",
                ],
                "pushwatch_alerter": [
                    "SELECT * FROM devices", "SELECT * FROM pushDeliveries", "SELECT FROM tokenKeys", "SELECT FROM apiKeys",
                    "SELECT FROM sessions", "SELECT FROM signInTickets",
                    "INSERT INTO pushThrottles SELECT * FROM pushThrottles", "UPDATE devices SET tokenState = 'inactive'",
                    "UPDATE attemptRollups SET attempts = 0", "SELECT contentState FROM activitySubjects",
                ],
            ]
            try await withDatabaseURL { database in
                for (group, statements) in own {
                    try await withLogin(group, database) { login in
                        let connection = try await PostgresConnection.connect(PostgresConfiguration(url: login.url))
                        for sql in common + statements {
                            let error = await #expect(throws: PostgresError.self, "\(group): \(sql)") {
                                try await connection.executeScript(sql)
                            }
                            #expect(error?.code.rawValue == "42501", "\(group): \(sql): \(String(describing: error))")
                        }
                    }
                }
            }
        }
    }
}
