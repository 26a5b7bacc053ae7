import AlertRules
import Alerting
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Who is affected while an alert goes on")
struct ImpactPassTests {
    @Test(
        "contributors, devices and backlog are looked at again every five minutes: now, and in the worst window; what it fired with stays"
    )
    func looksAgain() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            func add(_ minutes: Range<Int>, good: Int, bad: Int, version: String) async throws {
                for minute in minutes {
                    try await traffic.addFacts(Traffic.start + minute, count: good, prefix: "good")
                    guard bad > 0 else { continue }
                    try await traffic.addFacts(
                        Traffic.start + minute,
                        count: bad,
                        reason: "provider_5xx",
                        appVersion: version,
                        prefix: "bad\(version)-"
                    )
                }
            }
            try await add(0..<20, good: 100, bad: 0, version: "1.0")
            try await add(20..<35, good: 90, bad: 10, version: "2.0")
            let clock = ManualClock()
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [Rules.provider5xx], logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                configuration: EvaluatorConfiguration(leaseDuration: .seconds(60)),
                backlog: { _ in BacklogNumbers(waiting: 77, drainSeconds: 60) },
                logger: .silent,
                now: { clock.now }
            )
            func evaluated(_ minute: Int) async throws -> Alert {
                clock.set((Traffic.start + minute).timestamp + .seconds(60))
                try await evaluator.evaluate(minutes: minute)
                return try #require(try await AlertStore.open(on: pool).first)
            }
            clock.set((Traffic.start + 34).timestamp + .seconds(60))
            try await evaluator.evaluate(minutes: 34)
            let fired = try await evaluated(35)
            #expect(fired.impact == nil && fired.contributors.first?.value == "2.0")
            try await add(35..<45, good: 40, bad: 60, version: "3.0")
            #expect(try await evaluated(38).impact == nil, "not yet five minutes")
            let first = try #require(try await evaluated(45).impact)
            #expect(first.now.window.counts == AttemptCounts(attempts: 1500, bad: 650))
            #expect(first.now.contributors.first.map { "\($0.dimension)=\($0.value)" } == "appVersion=3.0")
            #expect(first.now.affected?.withoutSuccess == 70 && first.now.backlog?.waiting == 77)
            #expect(first.worst?.window.counts == AttemptCounts(attempts: 1500, bad: 650))
            // The fault gets smaller: the worst window stays as it was, the present does not.
            try await add(45..<65, good: 90, bad: 10, version: "2.0")
            #expect(try await evaluated(48).impact == first, "three minutes after the last look")
            let later = try await evaluated(65)
            let second = try #require(later.impact)
            #expect(second.now.window.counts == AttemptCounts(attempts: 1500, bad: 150))
            #expect(second.now.contributors.first.map { "\($0.dimension)=\($0.value)" } == "appVersion=2.0")
            #expect(second.worst?.contributors.first?.value == "3.0")
            #expect(later.contributors == fired.contributors && later.evidence.worst == second.worst?.window)
            // Once it is over nothing is looked at any more.
            try await add(65..<90, good: 100, bad: 0, version: "1.0")
            clock.set((Traffic.start + 90).timestamp + .seconds(60))
            try await evaluator.evaluate(minutes: 90)
            let over = try #require(try await AlertStore.resolved(limit: 1, on: pool).first)
            #expect(over.impact == second)
        }
    }
}
