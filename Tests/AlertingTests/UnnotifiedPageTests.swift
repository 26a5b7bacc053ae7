import AlertRules
import Foundation
import HTTPClient
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

@Suite("Pages that reached nobody")
struct UnnotifiedPageTests {
    private static func hook(_ name: String) -> ReceiverConfiguration { .webhook(name, url: "http://hook.example.org/\(name)") }

    private func outbox(_ pool: PostgresPool, rule: String = "ProviderUnavailable") async throws -> [String] {
        try await pool.query(
            """
            SELECT o.receiver || ' ' || o.kind || ' ' || o.state FROM notifications o JOIN alerts e USING (alertId)
            WHERE e.rule = \(rule) ORDER BY o.receiver, o.seq
            """
        ).map { try $0.decode(String.self) }
    }

    @Test("a page that fired while receivers.yml was broken goes to its receivers within a minute of the repair, once")
    func repaired() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "receivers-\(UUID().uuidString).yml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let broken = #"receivers: [{ name: team, webhook: { url: "${TEAM_URL}" } }]"#
        try broken.write(toFile: path, atomically: true, encoding: .utf8)
        try await withDatabase { pool in
            let registry = ReceiverRegistry(fixed: [.log], file: path, logger: .silent)
            #expect(registry.fault?.contains("the environment has no TEAM_URL") == true && !registry.hasRead)
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<45, attempts: 100, bad: 6)
            let clock = ManualClock()
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [Rules.provider5xx], logger: .silent),
                receivers: registry,
                logger: .silent,
                now: { clock.now }
            )
            func evaluate(_ minutes: Int) async throws {
                clock.set((Traffic.start + minutes).timestamp + .seconds(60))
                try await evaluator.evaluate(minutes: minutes)
                #expect(evaluator.faults == [:])
            }
            try await evaluate(34)
            try await evaluate(35)
            let notifier = Notifier.forTest(pool, receivers: [.log], clock: clock) { _ in throw CancellationError() }
            try await notifier.deliverDue()
            #expect(try await outbox(pool) == ["log firing delivered"])
            let repaired = #"receivers: [{ name: team, webhook: { url: "http://hook.example.org/team" } }]"#
            try repaired.write(toFile: path, atomically: true, encoding: .utf8)
            try await evaluate(36)
            #expect(registry.hasRead)
            #expect(try await outbox(pool) == ["log firing delivered", "team firing pending"])
            let since = try await pool.query("SELECT escalationSince FROM alerts")[0].decode(Timestamp.self)
            #expect(since == clock.now, "its receivers have as long as those of an alert that begins")
            try await evaluate(37)
            #expect(try await outbox(pool) == ["log firing delivered", "team firing pending"])
            #expect(try await pool.query("SELECT escalationSince FROM alerts")[0].decode(Timestamp.self) == since)
        }
    }

    @Test(
        "a page whose receiver was renamed goes to the new name, unless it is silenced, suppressed, acknowledged or a ticket",
        arguments: [
            nil, "silencedBy = gen_random_uuid()", #"suppressedBy = '{"alertId": "", "rule": "r", "group": "all"}'"#,
            "acknowledgedAt = now()", "severity = 'ticket'",
        ] as [String?]
    )
    func renamed(_ change: String?) async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            try await fireOnce(pool, receivers: [Self.hook("team")], clock: clock)
            try await pool.execute("UPDATE notifications SET state = 'delivered', settledAt = createdAt")
            if let change { try await pool.execute("UPDATE alerts SET \(raw: change)") }
            let lease = try await lease(pool)
            let pass = UnnotifiedPass(pool: pool, lease: lease, receivers: ReceiverSet(receivers: [Self.hook("pager")]), now: clock.now)
            try await pass.run()
            #expect(try await outbox(pool) == (change == nil ? ["pager firing pending"] : []) + ["team firing delivered"])
        }
    }

    @Test("a page that was not sent yet when its receiver was renamed goes to the new name alone")
    func renamedWhilePending() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            try await fireOnce(pool, receivers: [Self.hook("team")], clock: clock)
            let lease = try await lease(pool)
            let pass = UnnotifiedPass(pool: pool, lease: lease, receivers: ReceiverSet(receivers: [Self.hook("pager")]), now: clock.now)
            try await pass.run()
            #expect(try await outbox(pool) == ["pager firing pending", "team firing superseded"])
        }
    }

    @Test("a page whose receiver was renamed goes to the new name first; steps of escalation are taken if that one does not acknowledge it")
    func renamedWithEscalation() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            try await fireOnce(pool, receivers: [Self.hook("team")], clock: clock)
            try await pool.execute("UPDATE notifications SET state = 'delivered', settledAt = createdAt")
            let receivers = ReceiverSet(
                receivers: [Self.hook("pager"), Self.hook("chief")],
                routes: [AlertRoute(receivers: ["pager"])],
                escalation: EscalationPolicy(
                    unconfirmedAfter: .seconds(120),
                    unacknowledgedAfter: .seconds(900),
                    steps: [.init(receivers: ["chief"])]
                )
            )
            let lease = try #require(
                try await AlertLeaseStore.claim(Notifier.leaseName, holder: "test", for: .seconds(60), on: pool)
            )
            func escalate(after wait: Duration) async throws -> [String] {
                clock.advance(wait)
                try await EscalationPass(pool: pool, lease: lease, receivers: receivers, logger: .silent, now: clock.now).run()
                return try await outbox(pool)
            }
            #expect(try await escalate(after: .seconds(30)) == ["pager firing pending", "team firing delivered"])
            try await pool.execute("UPDATE notifications SET state = 'delivered', settledAt = createdAt")
            #expect(try await escalate(after: .seconds(899)) == ["pager firing delivered", "team firing delivered"])
            #expect(
                try await escalate(after: .seconds(1)) == ["chief firing pending", "pager firing delivered", "team firing delivered"]
            )
        }
    }

    @Test("what a receiver rejected is not sent to it again, and delays no escalation")
    func rejected() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [Self.hook("team")]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            try await pool.execute("UPDATE notifications SET state = 'deadLettered', settledAt = createdAt")
            let since = try await pool.query("SELECT escalationSince FROM alerts")[0].decode(Timestamp.self)
            clock.advance(.seconds(60))
            let lease = try await lease(pool)
            try await UnnotifiedPass(pool: pool, lease: lease, receivers: ReceiverSet(receivers: receivers), now: clock.now).run()
            #expect(try await outbox(pool) == ["team firing deadLettered"])
            #expect(try await pool.query("SELECT escalationSince FROM alerts")[0].decode(Timestamp.self) == since)
        }
    }

    @Test("an alert about a receiver that does not work is not sent to that receiver")
    func failing() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [Self.hook("team"), .log]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { _ in
                throw OutboundFailure(.notWritten, .connect, detail: "refused")
            }
            try await notifier.deliverDue()
            let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock)
            for minutes in [37, 38] {
                try await expireLeases("evaluator", on: pool)
                clock.advance(ReceiverOutage.pageAfter)
                try await evaluator.evaluate(minutes: minutes)
                #expect(try await AlertStore.open(rule: "ReceiverUnreachable", on: pool).map(\.severity) == [.page])
                #expect(try await outbox(pool, rule: "ReceiverUnreachable") == ["log firing pending"])
            }
        }
    }

    /// The evaluator's, from that of the set-up.
    private func lease(_ pool: PostgresPool) async throws -> AlertLease {
        try await expireLeases(on: pool)
        return try #require(
            try await AlertLeaseStore.claim(RuleEvaluator.leaseName, holder: "test", for: .seconds(60), on: pool)
        )
    }
}
