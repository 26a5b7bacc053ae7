import AlertRules
import Alerting
import Attempts
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("A rule by app is evaluated for a bounded number of apps")
struct RuleScopeTests {
    static let rule = Rules.make(
        "AuthInApp",
        .ratio(RatioCondition(reasons: ["auth"], above: Fraction(20, 100), for: RuleDuration(minutes: 10))),
        by: [.provider, .app]
    )

    /// Evaluates `rule` for two apps.
    private func evaluator(_ pool: PostgresPool) -> RuleEvaluator {
        RuleEvaluator(
            pool: pool,
            rules: RuleRegistry(rules: [Self.rule], logger: .silent),
            receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
            configuration: EvaluatorConfiguration(leaseDuration: .seconds(60), maxApps: 2),
            logger: .silent,
            now: { Traffic.start.timestamp }
        )
    }

    private func open(_ pool: PostgresPool) async throws -> [String: Int64] {
        try await AlertStore.open(on: pool).reduce(into: [:]) { $0[$1.labels["app"] ?? ""] = $1.evidence.observed.counts.attempts }
    }

    @Test("the largest have alerts of their own, the others one together; an app whose alert fires stays among them")
    func largest() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            for (app, attempts) in [("a", 40), ("b", 30), ("c", 20), ("d", 10)] as [(String, Int64)] {
                for minute in 0..<20 {
                    try await traffic.add(Traffic.start + minute, attempts: attempts, bad: attempts / 2, reason: "auth", app: app)
                }
            }
            let evaluator = evaluator(pool)
            try await evaluator.evaluate(minutes: 0)
            try await evaluator.evaluate(minutes: 20)
            #expect(try await open(pool) == ["a": 400, "b": 300, "other": 300])
            // `d` becomes the largest.
            for minute in 20..<22 { try await traffic.add(Traffic.start + minute, attempts: 4000, bad: 2000, reason: "auth", app: "d") }
            for minute in 20..<40 {
                for app in ["a", "b", "c"] { try await traffic.add(Traffic.start + minute, attempts: 40, bad: 0, app: app) }
            }
            try await evaluator.evaluate(minutes: 40)
            #expect(evaluator.faults == [:])
            #expect(Set(try await open(pool).keys) == ["d"])
        }
    }

    @Test("an app whose name Unicode takes for the same text hides no alert of the other, live or in a backtest")
    func equivalentApps() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            for minute in 0..<20 {
                try await traffic.add(Traffic.start + minute, attempts: 40, bad: 20, reason: "auth", app: "Kim")
                // U+212A, the Kelvin sign, is canonically equivalent to K.
                try await traffic.add(Traffic.start + minute, attempts: 4000, bad: 40, reason: "auth", app: "\u{212A}im")
            }
            let evaluator = evaluator(pool)
            try await evaluator.evaluate(minutes: 0)
            try await evaluator.evaluate(minutes: 20)
            #expect(evaluator.faults == [:])
            let open = try await AlertStore.open(on: pool)
            #expect(open.map { Array(($0.labels["app"] ?? "").utf8) } == [Array("Kim".utf8)])
            #expect(open.first?.evidence.observed.counts == AttemptCounts(attempts: 400, bad: 200))
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 19)
            #expect(try Decided.backtest([try await RuleBacktest(span: span, on: pool).run(Self.rule)]) == (try await Decided.live(pool)))
        }
    }

    @Test("an app that fails too little to fire keeps the history since its alert ended: it is opened again, as in a backtest")
    func openedAgain() async throws {
        var ratio = RatioCondition(reasons: ["auth"], above: Fraction(20, 100), for: RuleDuration(minutes: 10))
        ratio.minBad = 100
        let rule = Rules.make("AuthInApp", .ratio(ratio), by: [.provider, .app])
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            for minute in 0..<380 {
                let counts: (attempts: Int64, bad: Int64) =
                    switch minute {
                    case 20..<40, 350...: (100, 30)
                    // Too few in the minutes that are looked at, and enough to show that it was not over.
                    case 50..<350: (2, minute % 2 == 0 ? 1 : 0)
                    default: (100, 0)
                    }
                try await traffic.add(Traffic.start + minute, attempts: counts.attempts, bad: counts.bad, reason: "auth")
            }
            let evaluator = RuleEvaluator.forTest(pool, [rule])
            for minutes in stride(from: 0, through: 380, by: 10) { try await evaluator.evaluate(minutes: minutes) }
            #expect(evaluator.faults == [:])
            let live = try await Decided.live(pool)
            #expect(live.map(\.kind) == ["firing", "resolved", "reopened"])
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 379)
            #expect(try Decided.backtest([try await RuleBacktest(span: span, on: pool).run(rule)]) == live)
        }
    }

    @Test("apps that cannot fire take neither a state nor memory, and an evaluation of many that do waits for no impact of each")
    func many() async throws {
        try await withDatabase { pool in
            _ = try await Traffic(pool)
            try await pool.execute(
                """
                INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot,
                                            attempts, latencyMsSum, latencyCount)
                SELECT \(Traffic.start.timestamp)::timestamptz + m * interval '1 minute', 'fcm', 'android', 'send',
                       CASE WHEN a <= 3 THEN 'failed' ELSE 'sent' END::pushStatus, CASE WHEN a <= 3 THEN 'auth' ELSE '' END,
                       'synthetic.' || a, '', 'alert', 0, 2, 0, 0
                FROM generate_series(0, 19) AS m CROSS JOIN generate_series(1, 2000) AS a
                """
            )
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [Self.rule], logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                configuration: EvaluatorConfiguration(leaseDuration: .seconds(60), impactTime: .zero),
                logger: .silent,
                now: { Traffic.start.timestamp }
            )
            try await evaluator.evaluate(minutes: 0)
            try await evaluator.evaluate(minutes: 20)
            let alerts = try await AlertStore.open(on: pool)
            #expect(Set(alerts.compactMap { $0.labels["app"] }) == ["synthetic.1", "synthetic.2", "synthetic.3"])
            let states = try await pool.query("SELECT count(*) FROM alertCheckpoints")[0].decode(Int.self)
            #expect(states == 3)
        }
    }
}
