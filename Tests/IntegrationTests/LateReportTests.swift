import Foundation
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Attempts that are reported late, through the running service")
    struct LateReportTests {
        private static let settings = ["ALERTS_LAG_SECONDS": "1", "METRICS_OPEN": "true"]
        private static let rule = "ProviderUnavailable"

        private func post(_ server: ServerProcess, minutesAgo: ClosedRange<Int>, bad: Int, now: Timestamp) async throws {
            let attempts = minutesAgo.flatMap { ago in
                (0..<20).map { index in
                    SampleAttempt(
                        id: "late-\(ago)-\(index)",
                        at: now.flooredToMinute() - .seconds(ago * 60) + .seconds(index),
                        reason: index < bad ? "provider_5xx" : nil
                    ).json
                }
            }
            let answer = try await server.api.post("/attempts", attempts)
            #expect(answer.status == 200, "\(answer.text.prefix(300))")
        }

        @Test(
            "an incident that senders report when it is over: counted by the metric and on the page, and a ticket that says so"
        )
        func overWhenReported() async throws {
            try await withDatabaseURL { database in
                try await withAlertHook { hook in
                    let settings = Self.settings.merging(["ALERTS_WEBHOOK_URL": hook.url]) { $1 }
                    let now = Timestamp.now()
                    let first = try await ServerProcess.start(database: database, settings: settings)
                    try await first.waitUntilReady()
                    try await withPool(database) { pool in
                        try await eventually("the rule was evaluated without these attempts") {
                            try await pool.query("SELECT count(*) FROM alertRuleProgress WHERE rule = \(Self.rule)")[0].decode(Int.self)
                                == 1
                        }
                        try await post(first, minutesAgo: 61...90, bad: 0, now: now)
                        try await post(first, minutesAgo: 36...60, bad: 10, now: now)
                        try await post(first, minutesAgo: 15...35, bad: 0, now: now)
                        _ = try await first.terminate()
                        // Late attempts are looked at every five minutes, and at the start.
                        let second = try await ServerProcess.start(database: database, settings: settings)
                        try await second.waitUntilReady()
                        let severity = try await eventually("the incident is recorded") {
                            try await pool.query("SELECT severity FROM alerts WHERE rule = \(Self.rule) AND state = 'resolved'").first?
                                .decode(
                                    String.self
                                )
                        }
                        #expect(severity == "ticket")
                        let late = "pushwatch_alert_late_attempts_total{result=\"evaluated\"} 1520"
                        try await eventually("the metric counts them") { try await second.api.get("/metrics").text.contains(late) }
                        let page = try await second.api.get("/").text
                        #expect(page.contains("1,520 attempts of the last day were reported late"))
                        let message = try await eventually("its receivers are notified", within: .seconds(150)) {
                            hook.alerts(of: Self.rule).first
                        }
                        #expect(message.status == "resolved" && message.annotations["late"]?.hasPrefix("Found after it had ended") == true)
                        _ = try await second.terminate()
                    }
                }
            }
        }
    }
}
