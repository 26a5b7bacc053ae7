import AlertRules
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

@Suite("A baseline by the hour of the week, live")
struct SeasonTests {
    private static func rule(_ season: WeekSeason?) -> AlertRule {
        var baseline = BaselineCondition(reasons: ["token_not_registered"], above: Fraction(3, 1))
        baseline.seasonality = season
        baseline.ladder = []
        return Rules.make(season == nil ? "ByDay" : "ByWeek", .baseline(baseline), by: [.provider])
    }

    /// Four weeks and a day before `Traffic.start`, Monday noon, and two hours after it: each Monday from noon on eight of a hundred fail.
    private func fill(_ pool: PostgresPool, fault: Range<Int>) async throws {
        _ = try await Traffic(pool, daysBack: 29)
        let first = Traffic.start - 29 * 1440
        let (from, to) = ((Traffic.start + fault.lowerBound).timestamp, (Traffic.start + fault.upperBound).timestamp)
        try await pool.execute(
            """
            INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot,
                                        attempts, latencyMsSum, latencyCount)
            SELECT m, 'fcm', 'android', 'send', s.status::pushStatus, s.reason, 'com.example.app', 'production', 'alert', 0,
                   CASE WHEN s.reason = '' THEN 100 - bad ELSE bad END, 0, 0
            FROM generate_series(\(first.timestamp)::timestamptz, \((Traffic.start + 119).timestamp)::timestamptz, interval '1 minute') m
            CROSS JOIN LATERAL (
                SELECT CASE WHEN m >= \(from) AND m < \(to) THEN 60
                            WHEN extract(isodow FROM m AT TIME ZONE 'UTC') = 1 AND extract(hour FROM m AT TIME ZONE 'UTC') IN (12, 13) THEN 8
                            ELSE 1 END AS bad
            ) b
            CROSS JOIN (VALUES ('sent', ''), ('failed', 'token_not_registered')) AS s (status, reason)
            """
        )
    }

    @Test("a baseline by the hour of the week gives live what a backtest gives, and keeps its hours")
    func live() async throws {
        let utc = try #require(WeekSeason(zone: "UTC"))
        try await withDatabase { pool in
            try await fill(pool, fault: 70..<110)
            let rules = [Self.rule(nil), Self.rule(utc)]
            let evaluator = RuleEvaluator.forTest(pool, rules)
            for minute in stride(from: 0, through: 120, by: 5) { try await evaluator.evaluate(minutes: minute) }
            #expect(evaluator.faults == [:])
            let rows = try await pool.query("SELECT rule, firedAt FROM alerts ORDER BY rule").map { row in
                let (rule, firedAt) = try row.decode((String, Timestamp).self)
                return "\(rule) \(Minute(firedAt) - Traffic.start)"
            }
            try #require(rows.count == 2, "\(rows)")
            // By days the usual Monday noon is found at once; by the hour of the week only the fault is.
            let byWeek = try #require(rows.last)
            #expect(byWeek.hasPrefix("ByWeek"))
            let fired = try #require(Int(byWeek.dropFirst("ByWeek ".count)))
            #expect((71...110).contains(fired), "\(rows)")
            #expect(rows[0].hasPrefix("ByDay") && Int(rows[0].dropFirst("ByDay ".count)).map { $0 < 70 } == true, "\(rows)")
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 119)
            let stored = try await RuleBacktest(span: span, on: pool).run(Self.rule(utc))
            #expect(stored.alerts.map { $0.fired.firedAt - Traffic.start } == [fired])
            let kept = try await pool.query("SELECT count(*) FROM alertBaselineHours")[0].decode(Int.self)
            #expect(kept > 21 * 24)
            // Without the stored hours a backtest computes the same ones, and writes none.
            try await pool.execute("DELETE FROM alertBaselineHours")
            let computed = try await RuleBacktest(span: span, on: pool).run(Self.rule(utc))
            #expect(computed.alerts == stored.alerts)
            #expect(try await pool.query("SELECT count(*) FROM alertBaselineHours")[0].decode(Int.self) == 0)
        }
    }
}
