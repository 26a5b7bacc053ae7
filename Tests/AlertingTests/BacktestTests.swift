import AlertRules
import Alerting
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@Suite("Backtest")
struct BacktestTests {
    /// A baseline that learns for one day.
    private static let quickBaseline: AlertRule = {
        var condition = BaselineCondition(reasons: ["token_not_registered"], above: Fraction(3, 1), version: .one)
        condition.reference = RuleDuration(minutes: 1440)
        condition.longerWindows = [RuleDuration(minutes: 360)]
        condition.warnMinBad = 20
        return Rules.make("Tokens", .baseline(condition), by: [.provider])
    }()

    @Test("live evaluation, minute by minute, and a backtest give the same alerts with the same numbers", arguments: 1...3)
    func sameAsLive(_ seed: Int) async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool, daysBack: 3)
            let first = Minute.firstOf(day: Traffic.start.day - 2)
            let length = 2 * 1440 + 720
            var random = Seeded(state: UInt64(seed))
            for (provider, pushType) in [("fcm", "alert"), ("fcm", "liveactivity"), ("apns", "alert")] {
                try await traffic.add(RandomTrace.minutes(&random, first: first, count: length), provider: provider, pushType: pushType)
            }
            let rules = [Rules.provider5xx, Self.quickBaseline, Self.burn]
            let evaluator = RuleEvaluator.forTest(pool, rules)
            let last = first + (length - 1)
            // In jumps until most of the baseline is learned, then minute by minute.
            let steady = last - 400
            // From the beginning: what came and went before a rule's first evaluation is nobody's alert.
            var minute = first + 4
            try await evaluator.evaluate(through: (minute + 1).timestamp)
            while minute < last {
                minute = minute < steady ? min(steady, minute + Int.random(in: 1...90, using: &random)) : minute + 1
                try await evaluator.evaluate(through: (minute + 1).timestamp)
            }
            // What came and went within a jump is a ticket live: what pages soon after it is a new alert, and not that ticket opened again.
            let live = try await Decided.live(pool).map(\.withoutReopening)
            let span = BacktestSpan(since: first, last: last)
            let results = try await RuleBacktest(span: span, on: pool).run(rules)
            let decided = try Decided.backtest(results).map(\.withoutReopening)
            let onlyLive = live.filter { !decided.contains($0) }
            let onlyBacktest = decided.filter { !live.contains($0) }
            #expect(onlyLive == [], "seed \(seed)")
            #expect(onlyBacktest == [], "seed \(seed)")
            #expect(Set(live.map(\.rule)).count == 3 && live.count >= 8, "seed \(seed): \(live.count) transitions show too little")
            let days = try await pool.query("SELECT count(*) FROM alertBaselineDays").map { try $0.decode(Int.self) }
            try await pool.execute("DELETE FROM alertBaselineDays")
            let again = try await RuleBacktest(span: span, on: pool).run(rules)
            #expect(again == results, "days computed anew are the days that were stored")
            let written = try await pool.query("SELECT day::text FROM alertBaselineDays")
            #expect(days != [0] && written.isEmpty, "a backtest writes nothing")
        }
    }

    /// Three times as many failures as 98 % allow, over half an hour and five minutes.
    private static let burn: AlertRule = {
        let condition = BurnRateCondition(
            reasons: ["provider_5xx"],
            objective: Fraction(98, 100),
            rate: Fraction(3, 1),
            long: RuleDuration(minutes: 30),
            short: RuleDuration(minutes: 5)
        )
        guard let condition else { fatalError("such a share is possible") }
        return Rules.make("Burn", .burnRate(condition), by: [.provider])
    }()

    /// Below half of what it was a week ago, within fifteen minutes.
    private static let drop: AlertRule = {
        var condition = TrafficDropCondition(below: Fraction(1, 2), for: RuleDuration(minutes: 15))
        condition.weeks = 2
        // So short that a minute too few of the weeks before is missed.
        condition.resolveAfter = RuleDuration(minutes: 5)
        return Rules.make("Drop", .trafficDrop(condition), by: [.provider, .app])
    }()

    @Test("of a traffic drop, too: live evaluation reads the same time of the weeks before, a backtest everything")
    func dropAsLive() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool, daysBack: 16)
            // One app is used in the first half of each day; the other has too few attempts.
            for (app, rate) in [("a", 6), ("b", 1)] as [(String, Int64)] {
                try await traffic.fill(-16 * 1440..<0, app: app, attempts: rate) { app == "b" || ($0 + 16 * 1440) % 1440 < 720 }
            }
            var minute = 0
            for (length, rate) in [(40, 6), (40, 0), (50, 6), (30, 2), (40, 6), (20, 9), (40, 1), (40, 6)] as [(Int, Int64)] {
                try await traffic.fill(minute..<minute + length, app: "a", attempts: rate) { _ in true }
                minute += length
            }
            let evaluator = RuleEvaluator.forTest(pool, [Self.drop])
            try await evaluator.evaluate(minutes: 0...minute)
            #expect(evaluator.faults == [:])
            let live = try await Decided.live(pool)
            #expect(live.count >= 6 && live.allSatisfy { $0.group == "app=a,provider=fcm" }, "\(live)")
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + (minute - 1))
            #expect(try Decided.backtest([try await RuleBacktest(span: span, on: pool).run(Self.drop)]) == live)
        }
    }

    @Test("of latencies, too: alerts by provider and app, of attempts as they are written, some of them late", arguments: [true, false])
    func latencyAsLive(byApp: Bool) async throws {
        let condition = LatencyCondition(percentile: Fraction(90, 1), aboveMs: 500, for: RuleDuration(minutes: 10))
        let rule = Rules.make("Slow", .latency(condition), by: byApp ? [.provider, .app] : [])
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            let evaluator = RuleEvaluator.forTest(pool, [rule])
            let fast = [Int32](repeating: 500, count: 16)
            let slow = [Int32](repeating: 300, count: 10) + [Int32](repeating: 501, count: 6)
            for minute in 0..<120 {
                try await traffic.write(minute, latencies: (20..<50).contains(minute) ? slow : fast, app: "it's")
                try await traffic.write(minute, latencies: fast, app: "b")
                // What another sender saw of the second app is reported when it is over.
                if byApp, minute == 85 {
                    for late in 16..<30 { try await traffic.write(minute - late, latencies: slow + slow, app: "b", reportedLate: late) }
                }
                try await evaluator.evaluate(minutes: minute + 1)
            }
            #expect(evaluator.faults == [:])
            let live = try await Decided.live(pool)
            let groups = byApp ? ["app=b,provider=fcm", "app=it's,provider=fcm"] : ["all"]
            #expect(live.map(\.kind) == groups.flatMap { _ in ["firing", "resolved"] } && Set(live.map(\.group)) == Set(groups), "\(live)")
            #expect(live.last { $0.kind == "firing" }?.minute == 29)
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 119)
            #expect(try Decided.backtest([try await RuleBacktest(span: span, on: pool).run(rule)]) == live)
        }
    }

    @Test("an alert that began before the time in question is there, one that was over is not")
    func warmUp() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<60, attempts: 100, bad: 10)
            try await traffic.add(60..<100, attempts: 100, bad: 0)
            func alerts(since: Int) async throws -> [BacktestAlert] {
                let span = BacktestSpan(since: Traffic.start + since, last: Traffic.start + 99)
                return try await RuleBacktest(span: span, on: pool).run(Rules.provider5xx).alerts
            }
            #expect(try await alerts(since: 50).map { $0.firedAt - Traffic.start } == [35])
            #expect(try await alerts(since: 80) == [])
        }
    }

    @Test("a change of rules shows what it loses, gains and moves; rules that decide the same are not compared")
    func difference() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<60, attempts: 100, bad: 7)
            try await traffic.add(60..<90, attempts: 100, bad: 0)
            try await traffic.add(90..<120, attempts: 100, bad: 50)
            let backtest = RuleBacktest(span: BacktestSpan(since: Traffic.start, last: Traffic.start + 119), on: pool)
            func rule(above: Fraction, for minutes: Int = 15, version: RatioCondition.Version = .one) -> AlertRule {
                let condition = RatioCondition(
                    reasons: ["provider_5xx"],
                    above: above,
                    for: RuleDuration(minutes: minutes),
                    version: version
                )
                return Rules.make("ProviderUnavailable", .ratio(condition), by: [.provider])
            }
            let old = rule(above: Fraction(5, 100))
            let stricter = try await RuleSetDifference.between([old], [rule(above: Fraction(10, 100))], backtest)
            #expect(stricter.rules.map(\.lost.count) == [1] && stricter.rules.map(\.gained.count) == [0] && !stricter.isEmpty)
            #expect(stricter.text.contains("`ProviderUnavailable`: old 2 alerts"))
            #expect(stricter.text.contains("- lost: provider=fcm  since 2026-01-05 12:20 UTC, fired 2026-01-05 12:35 UTC"))
            let slower = try await RuleSetDifference.between([old], [rule(above: Fraction(5, 100), for: 20)], backtest)
            #expect(slower.rules.map(\.moved.count) == [2])
            let gone = try await RuleSetDifference.between([old], [], backtest)
            #expect(gone.rules.map(\.lost.count) == [2] && gone.text.contains("removed"))
            let second = try await RuleSetDifference.between([old], [rule(above: Fraction(5, 100), version: .two)], backtest)
            #expect(second.rules.map(\.moved.count) == [1] && second.rules.map(\.lost.count) == [1], "two alerts of ratio/1 are one")
            let same = try await RuleSetDifference.between([old], [old], backtest)
            #expect(same.isEmpty && same.rules.isEmpty)
        }
    }

    @Test("a change of who is notified is shown with what it would have changed, although the rule decides the same")
    func notificationDifference() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<60, attempts: 100, bad: 100)
            try await traffic.add(60..<120, attempts: 100, bad: 0)
            let backtest = RuleBacktest(span: BacktestSpan(since: Traffic.start, last: Traffic.start + 119), on: pool)
            let cause = Rules.make("NothingDelivered", .absence(AbsenceCondition(for: RuleDuration(minutes: 10))), by: [.provider])
            func rule(_ severity: Severity = .page, team: String = "push", suppressedBy: [String] = []) -> AlertRule {
                AlertRule(
                    name: "ProviderUnavailable",
                    ruleGroup: "g",
                    condition: Rules.provider5xx.condition,
                    by: [.provider],
                    severity: severity,
                    labels: ["severity": severity.rawValue, "team": team],
                    annotations: Rules.annotations,
                    suppressedBy: suppressedBy,
                    source: Rules.provider5xx.source
                )
            }
            let old = [cause, rule()]
            let suppressed = try await RuleSetDifference.between(old, [cause, rule(suppressedBy: ["NothingDelivered"])], backtest)
            #expect(!suppressed.isEmpty && suppressed.rules.map(\.name) == ["ProviderUnavailable"] && suppressed.rules[0].moved.count == 1)
            #expect(suppressed.text.contains("- suppressed_by: none → NothingDelivered"), "\(suppressed.text)")
            #expect(suppressed.text.contains(", page, suppressed by NothingDelivered"), "\(suppressed.text)")
            // The cause fires later: what it suppressed is notified.
            let slow = Rules.make("NothingDelivered", .absence(AbsenceCondition(for: RuleDuration(minutes: 20))), by: [.provider])
            let bound = rule(suppressedBy: ["NothingDelivered"])
            let freed = try await RuleSetDifference.between([cause, bound], [slow, bound], backtest)
            #expect(freed.rules.first { $0.name == "ProviderUnavailable" }?.moved.count == 1, "\(freed.text)")
            let moved = try await RuleSetDifference.between(old, [cause, rule(.ticket, team: "mobile")], backtest)
            #expect(moved.text.contains("- severity: page → ticket\n- labels: team=push → team=mobile"), "\(moved.text)")
            #expect(!moved.isEmpty)
            let words = try await RuleSetDifference.between(old, [cause, rule(team: "mobile")], backtest)
            #expect(words.isEmpty && words.text.contains("; the same alerts\n- labels: team=push → team=mobile"), "\(words.text)")
            let names = ["ops", "chat"].map { ReceiverConfiguration.webhook($0, url: "http://\($0)/") }
            let route = AlertRoute(severities: [.page], receivers: ["ops"])
            let difference = try await RuleSetDifference.between(
                old,
                old,
                oldReceivers: ReceiverSet(receivers: names),
                newReceivers: ReceiverSet(receivers: names, routes: [route]),
                backtest
            )
            #expect(difference.isEmpty && difference.text.contains("- receivers: ops, chat → ops"), "\(difference.text)")
        }
    }

    @Test("a healthy share above half the threshold is warned of; an outage does not count as healthy")
    func healthyShare() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            let minutes = (0..<600).map { offset in
                let bad: Int64 = (300..<340).contains(offset) ? 50 : 3
                return MinuteCounts(minute: Traffic.start + offset, attempts: 100, bad: bad)
            }
            try await traffic.add(minutes.map { RandomTrace.Row(counts: $0, dead: 0) }, provider: "fcm", pushType: "alert")
            let healthy = minutes.map {
                RandomTrace.Row(counts: MinuteCounts(minute: $0.minute, attempts: 100, bad: 2), dead: 0)
            }
            try await traffic.add(healthy, provider: "apns", pushType: "alert")
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 599)
            let findings = try await RuleBacktest(span: span, on: pool).healthFindings([Rules.provider5xx, Rules.tokens])
            #expect(findings.map(\.severity) == [.warning])
            #expect(findings.first?.message.contains("(provider=fcm): the healthy share reaches 3 %, more than half of 5 %") == true)
        }
    }
}
