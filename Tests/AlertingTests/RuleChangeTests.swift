import AlertRules
import Alerting
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Changing rules while alerts fire")
struct RuleChangeTests {
    /// Twice, a minute apart: a rule that is in no file is gone after that.
    private func evaluate(_ pool: PostgresPool, _ rules: [AlertRule], minutes: Int) async throws {
        let clock = ManualClock()
        let evaluator = RuleEvaluator.forTest(pool, rules, clock: clock)
        try await evaluator.evaluate(minutes: minutes)
        clock.advance(.seconds(60))
        try await evaluator.evaluate(minutes: minutes)
        try await evaluator.release()
    }

    private func threshold(_ percent: Int64) -> AlertRule {
        Rules.make(
            "ProviderUnavailable",
            .ratio(RatioCondition(reasons: ["provider_5xx"], above: Fraction(percent, 100), for: RuleDuration(minutes: 15))),
            by: [.provider]
        )
    }

    @Test("an alert that the new version confirms stays the same alert")
    func confirmed() async throws {
        try await withDatabase { pool in
            try await fireOnce(pool, receivers: [.log], clock: ManualClock())
            try await expireLeases(on: pool)
            let before = try #require(try await AlertStore.open(on: pool).first)
            try await evaluate(pool, [threshold(4)], minutes: 36)
            let after = try #require(try await AlertStore.open(on: pool).first)
            #expect(after.id == before.id && after.ruleVersion != before.ruleVersion)
            #expect(try await Recorded.transitions(pool).count == 1)
        }
    }

    @Test("an alert that the new version does not confirm is resolved, and so is one whose rule is gone")
    func unconfirmed() async throws {
        for rules in [[threshold(20)], [Rules.tokens]] {
            try await withDatabase { pool in
                try await fireOnce(pool, receivers: [.log], clock: ManualClock())
                try await expireLeases(on: pool)
                try await evaluate(pool, rules, minutes: 36)
                let over = try #require(try await AlertStore.resolved(limit: 1, on: pool).first)
                #expect(over.resolvedReason == "rule_changed")
                #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing", "resolved"])
                // A rule that is gone leaves no state; the other one has that of its version.
                let versions = try await pool.query(
                    "SELECT DISTINCT ruleVersion FROM alertSnapshots WHERE rule = 'ProviderUnavailable'"
                ).map { try $0.decode(String.self) }
                #expect(versions == rules.filter { $0.name == "ProviderUnavailable" }.map(\.version))
            }
        }
    }

    @Test("a start with a broken file resolves nothing")
    func brokenStart() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("alerts-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory + "/rules", withIntermediateDirectories: true)
        let other = """
            groups:
              - name: test
                rules:
                  - alert: Other
                    ratio: { reason: [auth], above: 1% }
                    for: 10m
                    labels: { severity: page }
                    annotations: { summary: s, meaning: m, action: a, runbook: "https://example.org/r" }
            """
        try other.write(toFile: directory + "/rules/other.yml", atomically: true, encoding: .utf8)
        try "groups: []\nunknown: 1\n".write(toFile: directory + "/rules/r.yml", atomically: true, encoding: .utf8)
        try await withDatabase { pool in
            try await fireOnce(pool, receivers: [.log], clock: ManualClock())
            try await expireLeases(on: pool)
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(directory: directory, logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                logger: .silent
            )
            try await evaluator.evaluate(minutes: 60)
            #expect(try await RuleProgress.all(on: pool).map(\.rule) == ["Other", "ProviderUnavailable"])
            #expect(try await AlertStore.open(on: pool).count == 1)
        }
    }

    @Test("a rule file that is away for a moment ends no alert; one that stays away for a minute ends those of its rules")
    func fileAway() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("alerts-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory + "/rules", withIntermediateDirectories: true)
        func write(_ name: String, _ reason: String, to file: String) throws {
            let text = """
                groups:
                  - name: \(name)
                    rules:
                      - alert: \(name)
                        ratio: { reason: \(reason), above: 5% }
                        for: 15m
                        by: [provider]
                        labels: { severity: page }
                        annotations: { summary: s, meaning: m, action: a, runbook: "https://example.org/r" }
                """
            try text.write(toFile: directory + "/rules/" + file, atomically: true, encoding: .utf8)
        }
        try write("Other", "auth", to: "other.yml")
        try write("ProviderUnavailable", "provider_5xx", to: "r.yml")
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 0)
            try await traffic.add(20..<60, attempts: 100, bad: 20)
            let clock = ManualClock((Traffic.start + 41).timestamp)
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(directory: directory, logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                logger: .silent,
                now: { clock.now }
            )
            func firing() async throws -> [String] {
                try await evaluator.evaluate(minutes: 40)
                return try await AlertStore.open(on: pool).map(\.rule)
            }
            #expect(try await firing() == ["ProviderUnavailable"])
            try FileManager.default.removeItem(atPath: directory + "/rules/r.yml")
            for wait in [0, 30, 29] {
                clock.advance(.seconds(wait))
                #expect(try await firing() == ["ProviderUnavailable"], "away for less than a minute")
            }
            try write("ProviderUnavailable", "provider_5xx", to: "r.yml")
            clock.advance(.seconds(60))
            #expect(try await firing() == ["ProviderUnavailable"])
            try FileManager.default.removeItem(atPath: directory + "/rules/r.yml")
            #expect(try await firing() == ["ProviderUnavailable"])
            clock.advance(.seconds(60))
            #expect(try await firing() == [])
            #expect(try await AlertStore.resolved(limit: 1, on: pool).map(\.resolvedReason) == ["rule_changed"])
        }
    }

    @Test("a broken rule file keeps the old rules and says why; the repaired one is taken up")
    func brokenFile() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("alerts-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory + "/rules", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: directory + "/runbooks", withIntermediateDirectories: true)
        func write(_ text: String, to name: String) throws {
            try text.write(toFile: directory + "/" + name, atomically: true, encoding: .utf8)
        }
        func rules(_ above: String) -> String {
            """
            groups:
              - name: test
                rules:
                  - alert: ProviderUnavailable
                    ratio: { reason: [provider_5xx], above: \(above) }
                    for: 15m
                    labels: { severity: page }
                    annotations: { summary: s, meaning: m, action: a, runbook: runbooks/r.md }
            """
        }
        try write("# r", to: "runbooks/r.md")
        try write(rules("5%"), to: "rules/r.yml")
        let receiverRegistry = RuleRegistry(directory: directory, logger: .silent)
        let first = receiverRegistry.rules
        #expect(first.map(\.name) == ["ProviderUnavailable"])
        #expect(receiverRegistry.findings.isEmpty)
        let read = ContinuousClock.now
        #expect(receiverRegistry.rules(knownFor: .seconds(60), at: read).isEmpty)
        #expect(receiverRegistry.rules(knownFor: .seconds(60), at: read + .seconds(61)) == first)
        try write(rules("500% # broken"), to: "rules/r.yml")
        // A start with the broken file has no rules, and says so.
        #expect(RuleRegistry(directory: directory, logger: .silent).isBroken)
        receiverRegistry.refresh()
        #expect(receiverRegistry.rules == first)
        #expect(receiverRegistry.isBroken)
        #expect(receiverRegistry.findings.first?.description.contains("r.yml:") == true)
        try write(rules("7%"), to: "rules/r.yml")
        receiverRegistry.refresh()
        #expect(!receiverRegistry.isBroken)
        #expect(receiverRegistry.rules.first?.condition.threshold == Fraction(7, 100))
        #expect(receiverRegistry.rules(knownFor: .seconds(60), at: read + .seconds(61)).count == 1, "changed, not new")
    }
}
