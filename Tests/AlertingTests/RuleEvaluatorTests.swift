import AlertRules
import Alerting
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("The evaluator, end to end through rollups")
struct RuleEvaluatorTests {
    @Test("a step to 6 % fires when its fifteenth minute closes, not one earlier, and resolves after recovery")
    func step() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<60, attempts: 100, bad: 1)
            try await traffic.add(60..<80, attempts: 100, bad: 6)
            try await traffic.add(80..<110, attempts: 100, bad: 1)
            let evaluator = RuleEvaluator.forTest(pool)
            for minutes in 30...74 { try await evaluator.evaluate(minutes: minutes) }
            #expect(try await Recorded.transitions(pool) == [])
            try await evaluator.evaluate(minutes: 75)
            let fired = Recorded(group: "provider=fcm", kind: "firing", minute: 74)
            #expect(try await Recorded.transitions(pool) == [fired])
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.startsAt == (Traffic.start + 60).timestamp)
            #expect(alert.firedAt == (Traffic.start + 75).timestamp)
            #expect(alert.evidence.observed.counts == AttemptCounts(attempts: 1500, bad: 90))
            #expect(alert.labels == ["alertname": "ProviderUnavailable", "severity": "page", "team": "push", "provider": "fcm"])
            for minutes in 76...110 { try await evaluator.evaluate(minutes: minutes) }
            let recorded = try await Recorded.transitions(pool)
            #expect(recorded.map(\.kind) == ["firing", "resolved"])
            let over = try #require(try await AlertStore.resolved(limit: 5, on: pool).first)
            #expect(over.resolvedReason == "recovered")
            #expect(over.endsAt == (Traffic.start + 80).timestamp)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing", "resolved"])
        }
    }

    @Test("a rule that failed is evaluated after the others in the next round: what takes long and fails delays no other")
    func failedLast() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<30, attempts: 10, bad: 0)
            let other = Rules.make("Other", Rules.provider5xx.condition, by: [.provider])
            let evaluator = RuleEvaluator.forTest(pool, [Rules.provider5xx, other])
            func order(_ minutes: Int) async throws -> [String] {
                try await evaluator.evaluate(minutes: minutes)
                // Each is evaluated in a transaction of its own.
                let rows = try await pool.query("SELECT rule FROM alertRuleProgress ORDER BY xmin::text::bigint")
                return try rows.map { try $0.decode(String.self) }
            }
            #expect(try await order(20) == ["ProviderUnavailable", "Other"])
            try await breakCheckpoint(of: "ProviderUnavailable", pool)
            try await evaluator.evaluate(minutes: 21)
            #expect(evaluator.faults.keys.sorted() == ["ProviderUnavailable"])
            try await pool.execute("DELETE FROM alertCheckpoints WHERE groupKey = 'x'")
            #expect(try await order(22) == ["Other", "ProviderUnavailable"])
            #expect(try await order(23) == ["ProviderUnavailable", "Other"])
        }
    }
}
