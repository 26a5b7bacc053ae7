import AlertRules
import Alerting
import Attempts
import Foundation
import Postgres
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    /// The button that calls what an alert fired at normal, pressed by somebody.
    @Suite("Accepting a new normal in a browser", .enabled(if: Chromium.mayBeTried, Comment(rawValue: Chromium.advice)))
    struct AcceptanceTests {
        /// Nine days in which one push of a hundred goes to a token that is gone, and then fifteen do.
        private static func fill(_ pool: PostgresPool, risenAt rise: Timestamp, until end: Timestamp) async throws {
            let start = end - .seconds(9 * 86_400)
            let days = Set(Minute(start).day...Minute(end).day + 1)
            try await PartitionMaintenance(pool: pool, logger: .silent).ensurePartitions(forDays: days)
            try await pool.execute(
                """
                INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor,
                                            writerSlot, attempts, latencyMsSum, latencyCount)
                SELECT m, 'fcm', 'android', 'send', s.status::pushStatus, s.reason, 'com.example.scores', 'production', 'alert', '3', 0,
                       CASE WHEN s.reason = '' THEN 100 - bad ELSE bad END, 0, 0
                FROM generate_series(\(start)::timestamptz, \(end - .seconds(60))::timestamptz, interval '1 minute') m
                CROSS JOIN LATERAL (SELECT CASE WHEN m >= \(rise) THEN 15 ELSE 1 END AS bad) AS level
                CROSS JOIN (VALUES ('sent', ''), ('deactivated', 'token_not_registered')) AS s (status, reason)
                """
            )
        }

        @Test("asked why, then pressed: the alert ends and says so, who did it is written down, and it can be taken back")
        func accept() async throws {
            // The rule decides every five minutes.
            let now = Timestamp.now().seconds
            let clock = PageClock(Timestamp(seconds: now - now % 300 + 20))
            var hooks = PushwatchServer.Hooks()
            hooks.pageClock = { clock.now }
            try await withServer(adjust: { $0.roles = [.api] }, hooks: hooks) { server in
                let end = clock.now.flooredToMinute()
                try await Self.fill(server.pool, risenAt: end - .seconds(2400), until: end + .seconds(1800))
                let evaluator = RuleEvaluator(
                    pool: server.pool,
                    rules: RuleRegistry(directory: ProjectDirectory.alerts, logger: .silent),
                    receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                    logger: .silent,
                    now: { clock.now }
                )
                func evaluate(minutesLater minutes: Int64) async throws {
                    clock.set(end + .seconds(60 * minutes + 20))
                    try await evaluator.evaluate(through: end + .seconds(60 * minutes))
                }
                for minutes in stride(from: Int64(-40), through: 0, by: 5) { try await evaluate(minutesLater: minutes) }
                try #require(evaluator.faults == [:])
                try #require(try await AlertStore.open(on: server.pool).map(\.rule) == ["TokenNotRegisteredSpike"])
                try await Chromium.open { window in
                    try await BrowserStory.signIn(window, server)
                    try await window.click("article h2 a", containing: "sends to unregistered tokens")
                    try await window.see("TokenNotRegisteredSpike")
                    try await window.click(".actions a", containing: "Accept as the new normal")
                    try await window.see("Accept a level only if its cause is known and permanent")
                    let accessibility = Accessibility(window: window)
                    try await PagePictures(window).take("accept") { try await accessibility.check("accept, \($0)") }
                    try await accessibility.checkKeyboard("accept")

                    // Without a reason the browser sends nothing.
                    try await window.click("main button", containing: "Accept as the new normal")
                    #expect(try await window.address.hasSuffix("/accept"))
                    #expect(try await AcceptanceStore.current(on: server.pool).isEmpty)
                    try await window.type("app 4.2 drops the tokens of devices in drawers", into: "#reason")
                    try await window.click("main button", containing: "Accept as the new normal")
                    try await window.see("takes effect within a minute: app 4.2 drops the tokens")
                    try await accessibility.check("an accepted alert")
                    try await evaluate(minutesLater: 1)
                    try await window.reload()
                    try await window.see("Resolved: lasted")
                    try await window.see("Accepted as normal by Ana (bootstrap)")
                    try await window.click("nav a", containing: "Now")
                    try await window.see("No alert is firing")

                    try await window.click("nav a", containing: "Rules")
                    try await window.see("Accepted as normal")
                    try await window.click("main button", containing: "Undo")
                    try await eventually("nothing is accepted any more") { try await AcceptanceStore.current(on: server.pool).isEmpty }
                    // What was normal is a fault again.
                    for minutes in stride(from: Int64(5), through: 20, by: 5) { try await evaluate(minutesLater: minutes) }
                    try await window.click("nav a", containing: "Now")
                    try await window.see("sends to unregistered tokens")
                    try await window.click("nav a", containing: "Audit")
                    let text = try await window.text
                    #expect(text.contains("acceptances.add") && text.contains("acceptances.remove"), "\(text)")
                }
            }
        }
    }
}
