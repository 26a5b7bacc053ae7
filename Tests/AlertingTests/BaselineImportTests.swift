import AlertRules
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

@Suite("History that is imported for a baseline")
struct BaselineImportTests {
    @Test("days that are imported after later ones were stored train the baseline as if they had come first")
    func order() async throws {
        try await withDatabase { pool in
            try await Spike.fill(pool, [(from: 0, bad: 8)], minutes: 180)
            let traffic = try await Traffic(pool, daysBack: 10)
            let evaluator = RuleEvaluator.forTest(pool, [Rules.tokens])
            try await evaluator.evaluate(minutes: 90)
            #expect(try await AlertStore.open(on: pool).isEmpty, "six training days are too few")
            for day in [8, 9] {
                try await traffic.add(Traffic.start - day * 1440, attempts: 20_000, bad: 200, reason: "token_not_registered")
            }
            try await evaluator.evaluate(minutes: 95)
            #expect(try await AlertStore.open(on: pool).isEmpty, "what is stored is not read again each time")
            try await pool.execute(
                """
                INSERT INTO attemptImports (fileKey, fileName, startedAt, updatedAt, bytes, lines, accepted, duplicate, advanced, conflict, rejected)
                VALUES (gen_random_uuid(), 'older.ndjson', clock_timestamp(), clock_timestamp(), 1, 1, 1, 0, 0, 0, 0)
                """
            )
            try await evaluator.evaluate(minutes: 100)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.evidence.level == .reference && alert.evidence.definition == "baseline/2")
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 179)
            let alerts = try await RuleBacktest(span: span, on: pool).run(Rules.tokens).alerts
            #expect(alerts.map(\.fired.evidence.level) == [.reference])
        }
    }

    @Test("a day without attempts that an import fills keeps no row that says so")
    func filled() async throws {
        try await withDatabase { pool in
            try await Spike.fill(pool, [], minutes: 180)
            let traffic = try await Traffic(pool, daysBack: 10)
            let evaluator = RuleEvaluator.forTest(pool, [Rules.tokens])
            func strata() async throws -> [String] {
                try await pool.query("SELECT stratum::text FROM alertBaselineDays WHERE day = DATE '2025-12-28'").map {
                    try $0.decode(String.self)
                }
            }
            try await evaluator.evaluate(minutes: 90)
            #expect(try await strata() == ["{}"])
            try await traffic.add(Traffic.start - 8 * 1440, attempts: 20_000, bad: 200, reason: "token_not_registered")
            try await pool.execute(
                """
                INSERT INTO attemptImports (fileKey, fileName, startedAt, updatedAt, bytes, lines, accepted, duplicate, advanced, conflict, rejected)
                VALUES (gen_random_uuid(), 'older.ndjson', clock_timestamp(), clock_timestamp(), 1, 1, 1, 0, 0, 0, 0)
                """
            )
            try await evaluator.evaluate(minutes: 100)
            let stored = try await strata()
            #expect(stored.count == 1 && !stored.contains("{}"), "\(stored)")
        }
    }

    @Test("stored days are removed once no baseline looks at them, and with the version they are of")
    func clean() async throws {
        try await withDatabase { pool in
            let rule = Spike.rule
            let now = Traffic.start.timestamp
            try await pool.execute(
                """
                INSERT INTO alertRuleProgress (rule, ruleVersion, asOf, evaluatedAt)
                VALUES (\(rule.name), \(rule.version), \(now), \(now))
                """
            )
            for (version, day) in [(rule.version, "2026-01-04"), (rule.version, "2025-11-01"), ("earlier", "2026-01-04")] {
                try await pool.execute(
                    """
                    INSERT INTO alertBaselineDays (rule, ruleVersion, stratum, day, hourAttempts, hourBad, excludedMinutes)
                    VALUES (\(rule.name), \(version), '{}', \(raw: "DATE '\(day)'"), '{}', '{}', 0)
                    """
                )
            }
            try await BaselineStore.clean([rule], now: now, on: pool)
            let left = try await pool.query("SELECT ruleVersion, day::text FROM alertBaselineDays").map {
                try $0.decode((String, String).self)
            }
            #expect(left.map(\.0) == [rule.version] && left.map(\.1) == ["2026-01-04"])
        }
    }
}
