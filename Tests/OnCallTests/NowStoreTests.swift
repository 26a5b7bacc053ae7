import AlertRules
import Alerting
import Delivery
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import OnCall

@Suite("What the page Now reads")
struct NowStoreTests {
    private static let now = OnCallRoutesTests.now

    private func store(_ pool: PostgresPool, rules: RuleRegistry = OnCallRoutesTests.rules) -> NowStore {
        NowStore(pool: pool, rules: rules, backlog: { PageSample.backlog(growing: false) }, throttles: { [] })
    }

    @Test("resolved lately are those that ended last, however long ago they fired")
    func recent() async throws {
        try await withDatabase { pool in
            try await OnCallRoutesTests.seed(pool)
            let long = try #require(try await AlertStore.open(on: pool).first)
            // Five that fired after it and ended before it.
            let ended = Self.now - .seconds(300)
            try await pool.execute(
                """
                INSERT INTO alerts (alertId, rule, ruleVersion, groupKey, groupLabels, labels, severity, state, startsAt, firedAt, endsAt,
                    resolvedAt, resolvedReason, detectedLateBySeconds, evidence, contributors, reproduceSql, annotations, updatedAt)
                SELECT gen_random_uuid(), 'Short', ruleVersion, groupKey, groupLabels, labels, severity, 'resolved', startsAt,
                    firedAt + number * interval '1 minute', \(ended), \(ended), 'recovered', 0, evidence, contributors, reproduceSql,
                    annotations, updatedAt
                FROM alerts, generate_series(1, 5) AS number
                """
            )
            try await pool.execute(
                """
                UPDATE alerts SET state = 'resolved', endsAt = \(Self.now), resolvedAt = \(Self.now), resolvedReason = 'recovered'
                WHERE alertId = \(long.id)
                """
            )
            let recent = try await store(pool).read(now: Self.now).recent
            #expect(recent.map(\.rule) == ["ProviderUnavailable", "Short", "Short", "Short", "Short"])
        }
    }

    @Test("rules without progress are counted: all that lack it, and those that should have it by now")
    func neverEvaluated() async throws {
        try await withDatabase { pool in
            try await OnCallRoutesTests.seed(pool)
            let condition = RatioCondition(reasons: ["auth"], above: Fraction(1, 100), for: RuleDuration(minutes: 10))
            let rules = RuleRegistry(
                rules: OnCallRoutesTests.rules.rules + [EvaluationHealthTests.rule("Failing", .ratio(condition))],
                logger: .silent
            )
            let evaluation = try await store(pool, rules: rules).read(now: Self.now).evaluation
            #expect((evaluation.rules, evaluation.evaluated, evaluation.neverEvaluated) == (2, 1, 1))
        }
    }
}
