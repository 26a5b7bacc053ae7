import AlertRules
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

extension WholeService {
    @Suite("Where the escalation of a page is shown")
    struct EscalationViewTests {
        private static let receivers = """
            receivers:
              - { name: on-call, ntfy: { topic: a } }
              - { name: phone, ntfy: { topic: b } }
              - { name: chief, ntfy: { topic: c } }
            routes:
              - { receivers: [on-call] }
            escalate:
              steps:
                - { duty: backup }
                - { receivers: [chief], wait: 30m }
            duty:
              backup: { rotation: [phone], start: 2026-01-05 09:00, zone: Europe/Berlin }
            """

        /// A page that nobody accepted for twenty minutes went to whom the duty list names.
        private func escalate(_ set: ReceiverSet, on pool: PostgresPool) async throws -> UUID {
            let now = Timestamp.now()
            let id = try await TestNotification.fire(
                receivers: ["on-call"],
                severity: .page,
                recording: .test("t", at: now - .seconds(1200)),
                on: pool
            )
            try await pool.execute("UPDATE alerts SET rule = 'ProviderUnavailable' WHERE alertId = \(id)")
            let lease = try #require(try await AlertLeaseStore.claim("notifier", holder: "t", for: .seconds(60), on: pool))
            try await EscalationPass(pool: pool, lease: lease, receivers: set, logger: .silent, now: now).run()
            return id
        }

        @Test("the command and the page show the steps that were taken and the next one, the API those that were taken")
        func everywhere() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let alerts = directory + "/alerts"
                    try FileManager.default.copyItem(atPath: ProjectDirectory.alerts, toPath: alerts)
                    try Self.receivers.write(toFile: alerts + "/receivers.yml", atomically: true, encoding: .utf8)
                    // Without the role that delivers: nothing is sent anywhere.
                    let server = try await ServerProcess.start(
                        database: database,
                        settings: ["ALERTS_DIRECTORY": alerts],
                        arguments: ["--role", "api"]
                    )
                    try await server.waitUntilReady()
                    let id = try await withPool(database) { pool in
                        try await escalate(ReceiverFile.parse(Self.receivers), on: pool).uuidString.lowercased()
                    }
                    let shown = try await Shell.run(
                        ServerProcess.binary,
                        ["alerts", "show", id],
                        environment: ["PUSHWATCH_DATABASE_URL": database, "PUSHWATCH_ALERTS_DIRECTORY": alerts]
                    )
                    let steps = shown.output.components(separatedBy: "\nEscalation\n").last?.components(separatedBy: "\n\n").first ?? ""
                    let lines = steps.split(separator: "\n")
                    #expect(shown.code == 0 && lines.count == 3, "\(shown.output)")
                    #expect(lines.dropFirst().first?.contains("step 1: no receiver accepted it in time") == true)
                    #expect(lines.dropFirst().first?.hasSuffix("phone") == true && lines.last?.hasSuffix("chief") == true, "\(steps)")
                    #expect(lines.last?.contains("step 2, unless it is acknowledged") == true, "\(steps)")
                    let page = try await server.api.get("/oncall/alerts/\(id)").text
                    #expect(page.contains("to phone, step 1: no receiver accepted it in time."), "\(page.prefix(2000))")
                    #expect(page.contains("to chief unless somebody acknowledges it."))
                    let taken = try await server.api.get("/alerts/\(id)").array("escalations")
                    #expect(taken.map { $0["receivers"] as? [String] } == [["phone"]])
                    #expect(taken.first?["reason"] as? String == "step 1: no receiver accepted it in time")
                    _ = try await server.terminate()
                }
            }
        }
    }
}
