import AlertRules
import Testing

/// Defined in alerts/README.md. How a share fires and resolves is tested with `ratio/2`.
@Suite("latency/1")
struct LatencyTests {
    private static func rule(_ percentile: Fraction = Fraction(95, 1), minAttempts: Int64 = 100) -> AlertRule {
        Make.rule(
            .latency(
                LatencyCondition(percentile: percentile, aboveMs: 2000, for: RuleDuration(minutes: 10), minAttempts: minAttempts)
            )
        )
    }

    @Test("the percentile is above its limit when more attempts are slower than it allows, and not when exactly as many are")
    func percentile() {
        let rule = Self.rule()
        #expect(rule.condition.threshold == Fraction(5, 100))
        #expect(Make.story(rule, [(60, 100, 0), (30, 100, 8), (60, 100, 0)]) == ["fired 70", "resolved 100"])
        #expect(Make.firings(rule, [(60, 100, 0), (120, 100, 5)]) == [])
        #expect(Make.firings(Self.rule(Fraction(999, 10)), [(60, 1000, 0), (30, 1000, 4)]).count == 1)
        #expect(Make.firings(Self.rule(Fraction(999, 10)), [(60, 1000, 0), (120, 1000, 1)]) == [])
        #expect(Make.firings(Self.rule(Fraction(50, 1)), [(60, 100, 0), (60, 100, 50)]) == [], "the median is the limit")
        #expect(Make.firings(Self.rule(Fraction(50, 1)), [(60, 100, 0), (60, 100, 70)]).count == 1)
    }

    @Test("too few attempts in the time do not fire, however slow")
    func minAttempts() {
        #expect(Make.firings(Self.rule(), [(60, 9, 0), (30, 9, 9)]) == [])
        #expect(Make.firings(Self.rule(), [(60, 10, 0), (30, 10, 10)]) == [70])
        #expect(Make.firings(Self.rule(minAttempts: 20), [(60, 9, 0), (30, 9, 9)]) == [70])
    }

    @Test("few slow attempts by accident do not fire, and an end of traffic resolves nothing")
    func evidence() {
        #expect(Make.firings(Self.rule(), [(60, 10, 0), (10, 12, 1), (60, 10, 0)]) == [], "8 % of 120 are ten: chance")
        #expect(Make.story(Self.rule(), [(60, 100, 0), (30, 100, 30), (600, 0, 0)]) == ["fired 70"])
    }

    @Test("the evidence is the share of slow attempts; percentile, limit and least attempts decide the rule's version")
    func words() throws {
        let fired = try #require(Make.transitions(Self.rule(), Make.history([(60, 100, 0), (10, 100, 8)])).first)
        #expect(fired.evidence.definition == "latency/1" && fired.evidence.level == .threshold)
        #expect(fired.evidence.observed.counts == AttemptCounts(attempts: 1000, bad: 80))
        #expect(fired.evidence.observedText == "8 %" && fired.evidence.thresholdText == "5 %")
        #expect(Self.rule(Fraction(999, 10)).condition.summary(\.description) == "p99.9 of the latency above 2s for 10m")
        let others = [Self.rule(), Self.rule(Fraction(99, 1)), Self.rule(minAttempts: 50)].map(\.version)
        let slower = LatencyCondition(percentile: Fraction(95, 1), aboveMs: 500, for: RuleDuration(minutes: 10))
        #expect(Set(others + [Make.rule(.latency(slower)).version]).count == 4)
    }

    @Test(
        "limits are read as they are written",
        arguments: [("500ms", 500), ("2s", 2000), ("1.5s", 1500), ("60s", 60_000)] as [(String, Int32)]
    )
    func limits(text: String, milliseconds: Int32) throws {
        let rules = """
            groups:
              - name: g
                rules:
                  - alert: Slow
                    latency: { p: 95, above: \(text), of: { provider: fcm } }
                    for: 10m
                    by: [app]
                    labels: { severity: ticket }
                    annotations: { summary: s, meaning: m, action: a, runbook: runbooks/x.md }
            """
        let set = RuleSet.read([SourceText(path: "r.yml", text: rules)], runbookExists: { _ in true })
        #expect(set.findings.map(\.description) == [])
        let condition = try #require(set.rules.first?.condition)
        #expect(condition.latency?.aboveMs == milliseconds && condition.of == AttemptFilter([.provider: ["fcm"]]))
    }
}
