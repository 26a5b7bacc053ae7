import AlertRules
import Alerting
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("An alert is suppressed only if receivers were notified of its cause")
struct SuppressionCandidatesTests {
    private static let rules = [
        rule("PushAuthFailing", "1%", .page), rule("NothingDelivered", nil, .critical, suppressedBy: ["PushAuthFailing"]),
        rule("PushAuthFailingSlow", "1%", .ticket, suppressedBy: ["NothingDelivered"]),
    ]

    /// `auth` above a share for ten minutes, or nothing delivered in that time.
    private static func rule(_ name: String, _ above: String?, _ severity: Severity, suppressedBy: [String] = []) -> AlertRule {
        let length = RuleDuration(minutes: 10)
        return AlertRule(
            name: name,
            ruleGroup: "push",
            condition: above.map { _ in .ratio(RatioCondition(reasons: ["auth"], above: Fraction(1, 100), for: length)) }
                ?? .absence(AbsenceCondition(for: length)),
            by: [.provider],
            severity: severity,
            labels: ["severity": severity.rawValue],
            annotations: Rules.annotations,
            suppressedBy: suppressedBy,
            source: SourcePosition(file: "test.yml", line: 1, column: 1)
        )
    }

    /// Everything is refused from minute 20 to 60. Returns who was notified of what, by the minute.
    private func notified(
        _ pool: PostgresPool,
        receivers: String,
        silenced: (rule: String, from: Int)? = nil,
        delivered: Int? = nil
    ) async throws -> [String] {
        let traffic = try await Traffic(pool)
        for minute in 0..<90 {
            let isFaulty = (20..<60).contains(minute)
            try await traffic.add(Traffic.start + minute, attempts: 100, bad: isFaulty ? 100 : 0, reason: "auth")
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "receivers-\(UUID().uuidString).yml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try receivers.write(toFile: path, atomically: true, encoding: .utf8)
        let clock = ManualClock()
        let evaluator = RuleEvaluator(
            pool: pool,
            rules: RuleRegistry(rules: Self.rules, logger: .silent),
            receivers: ReceiverRegistry(fixed: [], file: path, logger: .silent),
            logger: .silent,
            now: { clock.now }
        )
        for minute in 1..<90 {
            if delivered == minute { try await pool.execute("UPDATE notifications SET state = 'delivered', settledAt = createdAt") }
            if let silenced, silenced.from == minute { try await silence(silenced.rule, from: minute, pool) }
            clock.set((Traffic.start + minute).timestamp + .seconds(60))
            try await evaluator.evaluate(minutes: minute)
        }
        #expect(evaluator.faults == [:])
        return try await pool.query(
            """
            SELECT e.rule, o.kind, o.receiver, o.createdAt FROM notifications o JOIN alerts e USING (alertId)
            WHERE o.createdAt < \((Traffic.start + 61).timestamp) ORDER BY o.createdAt, e.rule, o.receiver, o.seq
            """
        ).map { row in
            let (rule, kind, receiver, at) = try row.decode((String, String, String, Timestamp).self)
            return "\(rule) \(kind) → \(receiver) @\(Minute(at - .seconds(60)) - Traffic.start)"
        }
    }

    private func silence(_ rule: String, from minute: Int, _ pool: PostgresPool) async throws {
        let now = (Traffic.start + minute).timestamp
        let silence = AlertSilence(
            matchers: [SilenceMatcher(name: "alertname", value: rule)],
            startsAt: now,
            endsAt: now + .seconds(7 * 86_400),
            author: "ada",
            reason: "known noise",
            createdAt: now
        )
        try await SilenceStore.insert(silence, recording: .test(), on: pool)
    }

    private static let everybody = "receivers:\n  - { name: a, log: {} }\n  - { name: b, log: {} }"

    @Test("where every receiver gets everything there is one page, and each suppressed alert shows its cause")
    func everybody() async throws {
        try await withDatabase { pool in
            let notified = try await notified(pool, receivers: Self.everybody)
            #expect(notified == ["PushAuthFailing firing → a @30", "PushAuthFailing firing → b @30"])
        }
    }

    @Test("a cause that a silence kept from everybody suppresses no page; one that is silenced after it was delivered does")
    func silenced() async throws {
        try await withDatabase { pool in
            let notified = try await notified(pool, receivers: Self.everybody, silenced: ("PushAuthFailing", 5))
            #expect(notified == ["NothingDelivered firing → a @30", "NothingDelivered firing → b @30"])
            #expect(
                try await AlertStore.resolved(limit: 9, on: pool).filter { $0.suppressedBy != nil }.map(\.rule) == ["PushAuthFailingSlow"]
            )
        }
        try await withDatabase { pool in
            let notified = try await notified(pool, receivers: Self.everybody, silenced: ("PushAuthFailing", 40), delivered: 39)
            #expect(notified == ["PushAuthFailing firing → a @30", "PushAuthFailing firing → b @30"])
        }
    }

    /// The shipped rules that an outage of a provider concerns.
    private static let shipped = AlertsDirectory(
        path: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "alerts").path(percentEncoded: false)
    ).ruleSet().rules.filter { ["ProviderUnavailable", "NothingDelivered", "ProviderUnreachable", "PushAuthFailing"].contains($0.name) }

    /// Which pages there were, minute by minute, of attempts and those that fail with 5xx.
    private func pages(_ pool: PostgresPool, _ minutes: [(attempts: Int64, bad: Int64)]) async throws -> [String] {
        let traffic = try await Traffic(pool)
        for (minute, counts) in minutes.enumerated() where counts.attempts > 0 {
            try await traffic.add(Traffic.start + minute, attempts: counts.attempts, bad: counts.bad)
        }
        let clock = ManualClock()
        let evaluator = RuleEvaluator.forTest(pool, Self.shipped, clock: clock)
        for minute in 1...minutes.count {
            clock.set((Traffic.start + minute).timestamp + .seconds(60))
            try await evaluator.evaluate(minutes: minute)
        }
        return try await pool.query(
            """
            SELECT e.rule, e.severity, o.createdAt FROM notifications o JOIN alerts e USING (alertId)
            WHERE o.kind = 'firing' AND e.severity IN ('critical', 'page') ORDER BY o.createdAt, e.rule
            """
        ).map { row in
            let (rule, severity, at) = try row.decode((String, String, Timestamp).self)
            return "\(rule) \(severity) @\(Minute(at - .seconds(60)) - Traffic.start)"
        }
    }

    @Test("everything fails at about one send a minute: one page, whichever minutes the failures fall into")
    func lowTraffic() async throws {
        try await withDatabase { pool in
            // Eight failures in any ten minutes, twelve in a quarter of an hour; then one a minute.
            let sparse = (0..<15).map { $0 % 5 == 4 ? (Int64(0), Int64(0)) : (Int64(1), Int64(1)) }
            let pages = try await pages(pool, Array(repeating: (1, 0), count: 30) + sparse + Array(repeating: (1, 1), count: 25))
            #expect(pages == ["NothingDelivered critical @42"])
        }
    }

    @Test(
        "a partial outage that was paged and then becomes total pages once more, as critical: those who went back to bed over 30 % are woken by all"
    )
    func partialBecomesTotal() async throws {
        try await withDatabase { pool in
            let minutes: [(Int64, Int64)] = Array(repeating: (100, 0), count: 20) + Array(repeating: (100, 30), count: 30)
            let pages = try await pages(pool, minutes + Array(repeating: (100, 100), count: 20))
            #expect(pages == ["ProviderUnavailable page @35", "NothingDelivered critical @60"])
        }
    }

    @Test("nobody was notified of a cause whose message waits under a silence")
    func silencedWhilePending() async throws {
        try await withDatabase { pool in
            let notified = try await notified(pool, receivers: Self.everybody, silenced: ("PushAuthFailing", 31))
            #expect(notified.filter { $0.hasPrefix("NothingDelivered") }.count == 2, "\(notified)")
        }
    }

    @Test(
        "a phone for critical alerts only was not notified of the page that explains it: it rings, the others do not; it gets the end"
    )
    func routes() async throws {
        let receivers = """
            receivers: [{ name: chat, log: {} }, { name: phone, log: {} }]
            routes:
              - { severity: [critical], receivers: [chat, phone] }
              - { severity: [page, ticket], receivers: [chat] }
            """
        try await withDatabase { pool in
            let notified = try await notified(pool, receivers: receivers)
            #expect(notified == ["NothingDelivered firing → phone @30", "PushAuthFailing firing → chat @30"])
            let nothing = try #require(try await AlertStore.resolved(limit: 9, on: pool).first { $0.rule == "NothingDelivered" })
            #expect(nothing.suppressedBy?.rule == "PushAuthFailing")
            let ends = try await pool.query("SELECT receiver FROM notifications WHERE alertId = \(nothing.id) AND kind = 'resolved'")
            #expect(try ends.map { try $0.decode(String.self) } == ["phone"])
        }
    }

    @Test("a ticket is suppressed by a page that went to others, by way of what explains its cause too")
    func tickets() async throws {
        let receivers = """
            receivers: [{ name: pager, log: {} }, { name: tickets, log: {} }]
            routes:
              - { severity: [critical, page], receivers: [pager] }
              - { severity: [ticket], receivers: [tickets] }
            """
        try await withDatabase { pool in
            let notified = try await notified(pool, receivers: receivers)
            #expect(notified == ["PushAuthFailing firing → pager @30"])
        }
    }
}
