import AlertRules
import Alerting
import Attempts
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Rules that name an exact app version or a provider code")
struct ExactLabelTests {
    private static let reasons = ["auth", "provider_5xx"]

    private static func rule(codes: [String] = [], by: [Dimension], of: AttemptFilter = AttemptFilter()) -> AlertRule {
        var condition = RatioCondition(reasons: reasons, above: Fraction(20, 100), for: RuleDuration(minutes: 5))
        condition.codes = codes
        condition.of = of
        condition.reopenWithin = RuleDuration(minutes: 0)
        return Rules.make("Exact", .ratio(condition), by: by)
    }

    /// An hour of two versions. The newer one fails half of the time for 20 minutes, with a code; the older one always fails for other
    /// reasons.
    private static func hour(_ traffic: Traffic) async throws {
        for minute in 0..<60 {
            let isBroken = (20..<40).contains(minute)
            let at = Traffic.start + minute
            try await traffic.addFacts(at, count: 12, appVersion: "3.2.0", prefix: "old")
            try await traffic.addFacts(at, count: 8, reason: "provider_5xx", code: "UNAVAILABLE", appVersion: "3.2.0", prefix: "old")
            try await traffic.addFacts(at, count: isBroken ? 10 : 20, appVersion: "3.2.1", prefix: "new")
            if isBroken { try await traffic.addFacts(at, count: 10, reason: "auth", code: "it's off", appVersion: "3.2.1", prefix: "new") }
        }
    }

    @Test(
        "live as a backtest: by version, of a version, and by the provider's code",
        arguments: [
            (
                rule(by: [.provider, .appVersion], of: AttemptFilter([.eventType: ["send"], .appMajor: ["3"]])),
                "appVersion=3.2.1,provider=fcm"
            ),
            (rule(by: [], of: AttemptFilter([.eventType: ["send"], .appVersion: ["3.2.1", "3.3.0"]])), "all"),
            (rule(codes: ["it's off"], by: [.app]), "app=com.example.app"),
        ]
    )
    func asLive(rule: AlertRule, group: String) async throws {
        try await withDatabase { pool in
            try await Self.hour(try await Traffic(pool))
            let evaluator = RuleEvaluator.forTest(pool, [rule])
            try await evaluator.evaluate(minutes: 0...60)
            #expect(evaluator.faults == [:])
            let live = try await Decided.live(pool)
            let ofGroup = live.filter { $0.group == group }
            #expect(ofGroup.map(\.kind) == ["firing", "resolved"], "\(live)")
            #expect((20..<30).contains(ofGroup.first?.minute ?? 0) && (40..<60).contains(ofGroup.last?.minute ?? 0), "\(ofGroup)")
            let older = live.filter { $0.group == "appVersion=3.2.0,provider=fcm" }
            #expect(live.count == 2 + older.count && older.map(\.kind) == (rule.by.contains(.appVersion) ? ["firing"] : []), "\(live)")
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 59)
            #expect(try Decided.backtest([try await RuleBacktest(span: span, on: pool).run(rule)]) == live)
        }
    }

    @Test(
        "the alert's SQL returns its numbers as the analyst, and its devices are those of the version",
        .enabled(if: Psql.isInstalled, "psql is not installed")
    )
    func reproduces() async throws {
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 4), logger: .silent)
            defer { pool.close() }
            try await Self.hour(try await Traffic(pool))
            let evaluator = RuleEvaluator.forTest(pool, [Self.rule(codes: ["it's off"], by: [.appVersion])])
            try await evaluator.evaluate(minutes: 0...30)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.labels["appVersion"] == "3.2.1")
            let counts = alert.evidence.observed.counts
            #expect(counts.attempts == 100 && (20...50).contains(counts.bad), "\(counts)")
            let answer = try Psql.run(alert.reproduceSQL, at: url)
            #expect(answer.status == 0, "\(answer.text)")
            #expect(answer.text.split(separator: "\n").last?.hasPrefix("|\(counts.attempts)|\(counts.bad)|") == true, "\(answer.text)")
            #expect(alert.affected?.withoutSuccess == 0, "each had a success: \(String(describing: alert.affected))")
        }
    }

    @Test("versions beyond the limit are one group, as what the counts fold")
    func bounded() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            for minute in 0..<10 {
                for (version, count) in [("1.0", 12), ("2.0", 11), ("3.0", 10), ("4.0", 10)] {
                    try await traffic.addFacts(Traffic.start + minute, count: count, reason: "auth", appVersion: version)
                }
            }
            try await pool.execute("UPDATE notificationDeliveryAttempts SET foldedLabels = 2 WHERE appVersion = '3.0'")
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [Self.rule(by: [.appVersion])], logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                configuration: EvaluatorConfiguration(leaseDuration: .seconds(60), maxApps: 2),
                logger: .silent,
                now: { Traffic.start.timestamp }
            )
            try await evaluator.evaluate(minutes: 0)
            try await evaluator.evaluate(minutes: 10)
            let open = try await AlertStore.open(on: pool)
                .map { "\($0.labels["appVersion"] ?? "") \($0.evidence.observed.counts.attempts)" }
            #expect(open.sorted() == ["1.0 60", "2.0 55", "other 100"])
        }
    }
}
