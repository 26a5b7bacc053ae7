import AlertRules
import Alerting
import Attempts
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("The evidence of an alert")
struct EvidenceTests {
    @Test("the reproducing SQL returns the numbers of the verdict")
    func reproduces() async throws {
        try await withDatabase { pool in
            try await fireOnce(pool, receivers: [.log], clock: ManualClock())
            let alert = try #require(try await AlertStore.open(on: pool).first)
            let rows = try await pool.query(Query(text: alert.reproduceSQL.replacing("AS percent", with: "::float8 AS percent")))
            #expect(rows.count == 16)
            let (minute, attempts, bad, percent) = try #require(rows.last).decode((Timestamp?, Int64, Int64, Double).self)
            #expect(minute == nil)
            #expect(AttemptCounts(attempts: attempts, bad: bad) == alert.evidence.observed.counts)
            #expect(percent == 6)
        }
    }

    @Test("the shipped rules fire with their words filled in")
    func shippedRules() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let rules = RuleRegistry(directory: root.appendingPathComponent("alerts").path, logger: .silent)
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<35, attempts: 100, bad: 6)
            let receivers = ReceiverRegistry(fixed: [.log], logger: .silent)
            let evaluator = RuleEvaluator(pool: pool, rules: rules, receivers: receivers, logger: .silent)
            try await evaluator.evaluate(minutes: 34)
            try await evaluator.evaluate(minutes: 35)
            #expect(evaluator.faults.isEmpty)
            let alert = try #require(try await AlertStore.open(on: pool).first { $0.rule == "ProviderUnavailable" })
            #expect(alert.annotations["summary"]?.contains("fcm: 6 % of sends fail") == true)
            #expect(alert.annotations["action"]?.contains("hrottle non-critical sends") == true)
            #expect(try await RuleProgress.all(on: pool).count == rules.rules.count)
        }
    }

    @Test("contributors are ranked by the failures the hour before does not explain")
    func contributors() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            for minute in 0..<75 {
                let broken = minute >= 60
                try await traffic.add(Traffic.start + minute, attempts: 80, bad: broken ? 20 : 0, platform: "android")
                try await traffic.add(Traffic.start + minute, attempts: 20, bad: broken ? 1 : 0, platform: "web", pushType: "background")
            }
            let evaluator = RuleEvaluator.forTest(pool)
            try await evaluator.evaluate(minutes: 50)
            try await evaluator.evaluate(minutes: 75)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            let first = try #require(alert.contributors.first)
            #expect((first.dimension, first.value, first.bad, first.excess) == ("platform", "android", 300, 300))
            #expect(abs(first.excessShare - 300.0 / 315) < 0.001)
            // All of it is one app: that says nothing.
            #expect(!alert.contributors.contains { $0.dimension == "app" || $0.dimension == "provider" })
        }
    }

    @Test("a baseline fires above three times its expectation, and its SQL returns the expectation")
    func baseline() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool, daysBack: 9)
            // Nine days at 1 % in every tenth minute, then an hour at 5 %.
            for offset in stride(from: -9 * 1440, to: 0, by: 10) {
                try await traffic.add(Traffic.start + offset, attempts: 400, bad: 4, reason: "token_not_registered")
            }
            for offset in stride(from: 0, to: 60, by: 10) {
                try await traffic.add(Traffic.start + offset, attempts: 400, bad: 20, reason: "token_not_registered")
            }
            let evaluator = RuleEvaluator.forTest(pool, [Rules.tokens])
            try await evaluator.evaluate(minutes: 0)
            #expect(try await AlertStore.open(on: pool).isEmpty)
            try await evaluator.evaluate(minutes: 60)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.evidence.level == .reference)
            let expected = try #require(alert.evidence.expected)
            let rows = try await pool.query(Query(text: alert.reproduceSQL))
            let (_, attempts, bad, again) = try #require(rows.last).decode((Timestamp?, Int64, Int64, Double).self)
            #expect(AttemptCounts(attempts: attempts, bad: bad) == alert.evidence.observed.counts)
            #expect(abs(again - expected) < 1e-9)
            let days = try await pool.query("SELECT count(DISTINCT day), sum(b)::bigint FROM alertBaselineDays, unnest(hourBad) AS b")
            #expect(try days[0].decode((Int, Int).self).0 >= 7)
        }
    }
}
