import AlertRules
import Alerting
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("One page for one fault, live and in a backtest")
struct SuppressionTests {
    private static func rule(_ name: String, _ condition: RuleCondition, by: [AlertRules.Dimension], suppressedBy: [String]) -> AlertRule {
        AlertRule(
            name: name,
            ruleGroup: "push",
            condition: condition,
            by: by,
            severity: .page,
            labels: ["severity": "page"],
            annotations: Rules.annotations,
            suppressedBy: suppressedBy,
            source: SourcePosition(file: "test.yml", line: 1, column: 1)
        )
    }

    private static func auth(above: Fraction) -> RuleCondition {
        .ratio(RatioCondition(reasons: ["auth"], above: above, for: RuleDuration(minutes: 10)))
    }

    /// In an order in which the cause comes last.
    private static let rules = [
        rule(
            "NothingDelivered",
            .absence(AbsenceCondition(for: RuleDuration(minutes: 10))),
            by: [.provider],
            suppressedBy: ["PushAuthFailing"]
        ),
        rule("PushAuthFailingInApp", auth(above: Fraction(20, 100)), by: [.provider, .app], suppressedBy: ["PushAuthFailing"]),
        rule("PushAuthFailing", auth(above: Fraction(1, 100)), by: [.provider], suppressedBy: []),
    ]

    /// `app` sends 100 a minute, of which `bad` are refused for their credential.
    private func add(_ traffic: Traffic, _ minutes: Range<Int>, app: String, attempts: Int64 = 100, bad: Int64) async throws {
        for minute in minutes { try await traffic.add(Traffic.start + minute, attempts: attempts, bad: bad, reason: "auth", app: app) }
    }

    /// Who was notified of what: `PushAuthFailing firing @30`, by the minute of the transition.
    private func notified(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query(
            """
            SELECT e.rule, o.kind, o.createdAt FROM notifications o JOIN alerts e USING (alertId) ORDER BY o.createdAt, e.rule, o.seq
            """
        ).map { row in
            let (rule, kind, at) = try row.decode((String, String, Timestamp).self)
            return "\(rule) \(kind) @\(Minute(at - .seconds(60)) - Traffic.start)"
        }
    }

    private func evaluate(_ pool: PostgresPool, _ minutes: Range<Int>, _ rules: [AlertRule] = Self.rules) async throws {
        let clock = ManualClock()
        let evaluator = RuleEvaluator.forTest(pool, rules, clock: clock)
        for minute in minutes {
            clock.set((Traffic.start + minute).timestamp + .seconds(60))
            try await evaluator.evaluate(minutes: minute)
        }
        #expect(evaluator.faults == [:])
        try await expireLeases("evaluator", on: pool)
    }

    private func backtest(_ pool: PostgresPool, through last: Int, _ rules: [AlertRule] = Self.rules) async throws -> BacktestReport {
        let span = BacktestSpan(since: Traffic.start, last: Traffic.start + last)
        return BacktestReport(span: span, results: try await RuleBacktest(span: span, on: pool).run(rules))
    }

    @Test("everything is refused: one page; the others are shown with their cause, and nobody is notified of them at the end either")
    func onePage() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await add(traffic, 0..<20, app: "a", bad: 0)
            try await add(traffic, 20..<60, app: "a", bad: 100)
            try await add(traffic, 60..<90, app: "a", bad: 0)
            try await evaluate(pool, 1..<50)
            let open = try await AlertStore.open(on: pool)
            #expect(Set(open.map(\.rule)) == ["NothingDelivered", "PushAuthFailing", "PushAuthFailingInApp"])
            let cause = try #require(open.first { $0.rule == "PushAuthFailing" })
            #expect(cause.suppressedBy == nil)
            for suppressed in open where suppressed.rule != "PushAuthFailing" {
                #expect(
                    suppressed.suppressedBy == SuppressingAlert(alertId: cause.id, rule: "PushAuthFailing", group: "provider=fcm"),
                    "\(suppressed.rule)"
                )
            }
            #expect(try await notified(pool) == ["PushAuthFailing firing @30"])
            try await evaluate(pool, 50..<90)
            #expect(try await AlertStore.open(on: pool) == [])
            let messages = try await notified(pool)
            #expect(messages.count == 2, "\(messages)")
            let report = try await backtest(pool, through: 88)
            #expect(report.text().contains("1 of them would have paged"), "\(report.text())")
            #expect(report.results.flatMap(\.alerts).count { $0.isSuppressed } == 2)
            #expect(try report.json().contains(#""suppressedBy":"PushAuthFailing""#))
        }
    }

    @Test("the cause ends while an app is still refused: the app pages then, with its true beginning; a backtest says when")
    func outlasts() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            // A small app is refused throughout, a big one for half an hour.
            try await add(traffic, 0..<20, app: "small", attempts: 20, bad: 0)
            try await add(traffic, 20..<120, app: "small", attempts: 20, bad: 20)
            try await add(traffic, 0..<20, app: "big", attempts: 4000, bad: 0)
            try await add(traffic, 20..<50, app: "big", attempts: 4000, bad: 400)
            try await add(traffic, 50..<120, app: "big", attempts: 4000, bad: 0)
            try await evaluate(pool, 1..<45)
            #expect(try await notified(pool) == ["PushAuthFailing firing @30"])
            try await evaluate(pool, 45..<120)
            let messages = try await notified(pool)
            let end = try #require(messages.first { $0.hasPrefix("PushAuthFailing resolved") }.flatMap { Int($0.split(separator: "@")[1]) })
            #expect(messages == ["PushAuthFailing firing @30", "PushAuthFailing resolved @\(end)", "PushAuthFailingInApp firing @\(end)"])
            let app = try #require(try await AlertStore.open(on: pool).first)
            #expect(app.suppressedBy == nil && Minute(app.startsAt) - Traffic.start == 20)
            let report = try await backtest(pool, through: 118)
            let alert = try #require(report.results.first { $0.rule.name == "PushAuthFailingInApp" }?.alerts.first)
            #expect(alert.suppression == .delayed(cause: "PushAuthFailing", at: Traffic.start + end))
        }
    }

    @Test("a credential that is refused later than that alert pages in addition to it")
    func later() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await add(traffic, 0..<20, app: "first", bad: 0)
            try await add(traffic, 20..<90, app: "first", bad: 30)
            try await add(traffic, 0..<60, app: "second", bad: 0)
            try await add(traffic, 60..<90, app: "second", bad: 100)
            try await evaluate(pool, 1..<90)
            let messages = try await notified(pool)
            #expect(messages == ["PushAuthFailing firing @30", "PushAuthFailingInApp firing @70"], "\(messages)")
            let suppressed = try await AlertStore.open(on: pool).filter { $0.suppressedBy != nil }
            #expect(suppressed.map { $0.group[.app] } == ["first"])
            let report = try await backtest(pool, through: 88)
            #expect(report.results.flatMap(\.alerts).filter { $0.isSuppressed }.map { $0.group[.app] } == ["first"])
        }
    }

    /// The shipped rules that an outage of a provider concerns.
    private static let shipped = AlertsDirectory(
        path: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "alerts").path(percentEncoded: false)
    ).ruleSet().rules.filter {
        ["ProviderUnavailable", "NothingDelivered", "ProviderUnreachable", "PushAuthFailing", "ProviderUnavailableSlow"].contains($0.name)
    }

    @Test(
        "everything is answered with 5xx: one page after ten minutes; the contract's alert is suppressed, and pages when it outlasts that one"
    )
    func everythingFails() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 0)
            try await traffic.add(20..<50, attempts: 100, bad: 100)
            // Some get through again, and half still fail.
            try await traffic.add(50..<90, attempts: 100, bad: 50)
            try await traffic.add(90..<120, attempts: 100, bad: 0)
            try await evaluate(pool, 1..<49, Self.shipped)
            #expect(try await notified(pool) == ["NothingDelivered firing @30"])
            let open = try await AlertStore.open(on: pool)
            let contract = try #require(open.first { $0.rule == "ProviderUnavailable" })
            #expect(contract.suppressedBy?.rule == "NothingDelivered" && Minute(contract.firedAt) - Traffic.start == 35)
            try await evaluate(pool, 49..<120, Self.shipped)
            let messages = try await notified(pool)
            let end = try #require(
                messages.first { $0.hasPrefix("NothingDelivered resolved") }.flatMap { Int($0.split(separator: "@")[1]) }
            )
            #expect(
                messages.prefix(3) == [
                    "NothingDelivered firing @30", "NothingDelivered resolved @\(end)", "ProviderUnavailable firing @\(end)",
                ],
                "\(messages)"
            )
            #expect(
                (50..<65).contains(end) && messages.dropFirst(3).allSatisfy { $0.hasPrefix("ProviderUnavailable resolved") },
                "\(messages)"
            )
            let report = try await backtest(pool, through: 118, Self.shipped)
            let alert = try #require(report.results.first { $0.rule.name == "ProviderUnavailable" }?.alerts.first)
            #expect(alert.suppression == .delayed(cause: "NothingDelivered", at: Traffic.start + end))
        }
    }

    @Test("when the key leaves the rule file, receivers are notified of what was suppressed")
    func keyRemoved() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await add(traffic, 0..<20, app: "a", bad: 0)
            try await add(traffic, 20..<60, app: "a", bad: 30)
            try await evaluate(pool, 1..<40)
            #expect(try await notified(pool) == ["PushAuthFailing firing @30"])
            let clock = ManualClock((Traffic.start + 41).timestamp + .seconds(60))
            let plain = Self.rules.map { Self.rule($0.name, $0.condition, by: $0.by, suppressedBy: []) }
            try await RuleEvaluator.forTest(pool, plain, clock: clock).evaluate(minutes: 41)
            #expect(try await notified(pool) == ["PushAuthFailing firing @30", "PushAuthFailingInApp firing @41"])
        }
    }
}
