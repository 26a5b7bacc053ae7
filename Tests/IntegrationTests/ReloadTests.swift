import Foundation
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Rule and receiver files, while the service runs")
    struct ReloadTests {
        private static let added = """
            groups:
              - name: added
                rules:
                  - alert: AddedWhileRunning
                    ratio: { reason: [network], above: 40% }
                    for: 20m
                    labels: { severity: ticket }
                    annotations: { summary: s, meaning: m, action: a, runbook: "https://example.org/r" }
            """

        private func withProcess(_ body: (ServerProcess, _ alerts: String, PostgresPool) async throws -> Void) async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let alerts = directory + "/alerts"
                    try FileManager.default.copyItem(atPath: ProjectDirectory.alerts, toPath: alerts)
                    let server = try await ServerProcess.start(
                        database: database,
                        settings: ["ALERTS_DIRECTORY": alerts, "ALERTS_LAG_SECONDS": "1", "METRICS_OPEN": "true"]
                    )
                    try await server.waitUntilReady()
                    try await withPool(database) { try await body(server, alerts, $0) }
                    _ = try await server.terminate()
                }
            }
        }

        /// The value of a metric without labels.
        private func metric(_ name: String, _ server: ServerProcess) async throws -> Double? {
            let lines = try await server.api.get("/metrics").text.split(separator: "\n")
            return lines.first { $0.hasPrefix(name + " ") }.flatMap { Double($0.split(separator: " ")[1]) }
        }

        @Test(
            "a rule file that is added is evaluated; a broken one keeps the old rules and says so on the pages, in the log, in the API and in a metric"
        )
        func rules() async throws {
            try await withProcess { server, alerts, pool in
                let before = try #require(try await metric("pushwatch_alert_rules_loaded", server))
                let file = alerts + "/rules/added.yml"
                try Self.added.write(toFile: file, atomically: true, encoding: .utf8)
                try await eventually("the rule is evaluated") {
                    try await pool.query("SELECT count(*) FROM alertRuleProgress WHERE rule = 'AddedWhileRunning'")[0].decode(Int.self) == 1
                }
                #expect(try await metric("pushwatch_alert_rules_loaded", server) == before + 1)
                #expect(try await metric("pushwatch_alert_rules_broken", server) == 0)
                try Self.added.replacing("40%", with: "400%").write(toFile: file, atomically: true, encoding: .utf8)
                try await eventually("the metric says it") { try await metric("pushwatch_alert_rules_broken", server) == 1 }
                for path in ["/", "/oncall/rules"] {
                    let page = try await server.api.get(path).text
                    #expect(page.contains("added.yml") && page.contains("400 %"), "\(path)")
                }
                #expect(
                    try await server.api.get("/oncall/rules").text.contains("network above 40 % for 20 min"),
                    "the old rule is in force"
                )
                #expect(try await metric("pushwatch_alert_rules_loaded", server) == before + 1)
                let errors = try await server.api.get("/alerts").json["ruleErrors"] as? [String]
                #expect(errors?.first?.contains("added.yml") == true)
                #expect(server.log.contains("an alert rule is broken") && server.log.contains("added.yml"))
                try Self.added.replacing("40%", with: "45%").write(toFile: file, atomically: true, encoding: .utf8)
                try await eventually("the mended rule is in force") {
                    try await server.api.get("/oncall/rules").text.contains("network above 45 % for 20 min")
                }
                #expect(try await metric("pushwatch_alert_rules_broken", server) == 0)
            }
        }

        @Test(
            "receivers.yml is taken up while the service runs; a broken one keeps the old receivers and says so on the pages, in the log, by readiness and in a metric"
        )
        func receivers() async throws {
            try await withProcess { server, alerts, _ in
                let file = alerts + "/receivers.yml"
                let before = try #require(try await metric("pushwatch_alert_receivers_loaded", server))
                try "receivers: [{ name: one, log: {} }, { name: two, log: {} }]\n".write(toFile: file, atomically: true, encoding: .utf8)
                try await eventually("both are loaded") { try await metric("pushwatch_alert_receivers_loaded", server) == before + 2 }
                try "receivers: [{ name: one, log: {}, loud: true }]\n".write(toFile: file, atomically: true, encoding: .utf8)
                try await eventually("the metric says it") { try await metric("pushwatch_alert_receivers_broken", server) == 1 }
                #expect(try await metric("pushwatch_alert_receivers_loaded", server) == before + 2)
                for path in ["/", "/oncall/rules"] {
                    let page = try await server.api.get(path).text
                    #expect(page.contains("receivers.yml") && page.contains("unknown key &#39;loud&#39;"), "\(path)")
                }
                #expect(server.log.contains("the alert receivers are broken") && server.log.contains("loud"))
                let ready = try await server.api.get("/health/ready")
                #expect(ready.status == 200 && ready.text.contains("receivers.yml is broken"))
                try "receivers: [{ name: one, log: {} }]\n".write(toFile: file, atomically: true, encoding: .utf8)
                try await eventually("the mended file is in force") {
                    let loaded = try await metric("pushwatch_alert_receivers_loaded", server)
                    let broken = try await metric("pushwatch_alert_receivers_broken", server)
                    return loaded == before + 1 && broken == 0
                }
            }
        }
    }
}
