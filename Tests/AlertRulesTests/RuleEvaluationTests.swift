import AlertRules
import Foundation
import Testing

@Suite("Evaluating groups")
struct RuleEvaluationTests {
    private let rule = Make.rule(Make.outage().condition, by: [.provider], name: "Down")

    private func rows(_ provider: String, _ platform: String, _ runs: [(minutes: Int, attempts: Int64, bad: Int64)]) -> [KeyedCounts] {
        Make.counts(runs).enumerated().map { offset, counts in
            KeyedCounts(
                key: GroupKey([.provider: provider, .platform: platform]),
                minute: Make.start + offset,
                attempts: counts.attempts,
                bad: counts.bad
            )
        }
    }

    @Test("each group has its own alert; strata of a group add up")
    func groups() {
        let rows =
            rows("fcm", "android", [(60, 50, 0), (20, 50, 6)]) + rows("fcm", "web", [(60, 50, 0), (20, 50, 0)])
            + rows("apns", "ios", [(80, 100, 0)])
        let histories = GroupHistory.groups(of: rule, rows: rows)
        #expect(histories.map(\.group.description) == ["provider=apns", "provider=fcm"])
        let (states, transitions) = RuleEvaluation.evaluate(rule, histories: histories, through: Make.start + 79)
        #expect(transitions.map(\.group.description) == ["provider=fcm"])
        #expect(transitions.map { $0.firedAt - Make.start } == [75])
        #expect(states.values.allSatisfy { $0.asOf == Make.start + 79 } && states.count == 2)
    }

    @Test("an alert of a group that has vanished from the data keeps firing")
    func vanished() throws {
        let histories = GroupHistory.groups(of: rule, rows: rows("fcm", "web", [(60, 50, 0), (20, 50, 6)]))
        let first = RuleEvaluation.evaluate(rule, histories: histories, through: Make.start + 79)
        let later = RuleEvaluation.evaluate(rule, histories: [], from: first.states, through: Make.start + 5000)
        #expect(later.transitions.isEmpty)
        #expect(try #require(later.states.values.first).open?.firedAt == first.transitions.first?.firedAt)
    }

    @Test("a fold without a checkpoint goes back fourteen days")
    func horizon() {
        let history = Make.history([(60, 100, 0), (20, 100, 10), (15 * 1440, 0, 0)])
        let last = history.total.end - 1
        #expect(RuleEvaluation.fold(Make.outage(), history, through: last).state.open == nil)
        let carried = RuleEvaluation.fold(Make.outage(), history, from: AlertState(asOf: Make.start - 1), through: last)
        #expect(carried.state.open != nil)
    }

    @Test("transitions and states survive being stored")
    func stored() throws {
        let histories = GroupHistory.groups(of: rule, rows: rows("fcm", "web", [(60, 50, 0), (20, 50, 6)]))
        let result = RuleEvaluation.evaluate(rule, histories: histories, through: Make.start + 79)
        let transition = try #require(result.transitions.first)
        let data = try JSONEncoder().encode(transition)
        #expect(try JSONDecoder().decode(Transition.self, from: data) == transition)
        #expect(String(decoding: data, as: UTF8.self).contains(#""values":{"provider":"fcm"}"#))
    }

    @Test("annotations are filled in with the numbers of the transition")
    func annotations() throws {
        let directory = AlertsDirectory(path: ShippedRulesTests.alerts)
        let shipped = try #require(directory.ruleSet()["ProviderUnavailable"])
        let histories = GroupHistory.groups(of: shipped, rows: rows("fcm", "web", [(60, 50, 0), (20, 50, 6)]))
        let fired = try #require(RuleEvaluation.evaluate(shipped, histories: histories, through: Make.start + 79).transitions.first)
        let texts = shipped.annotations.rendered(fired.facts)
        #expect(texts["summary"] == "fcm: 12 % of sends fail with provider errors (5xx), threshold 5 % for 15 minutes")
        #expect(texts["meaning"]?.contains("since 2026-01-05 01:00 UTC: 90 of 750 attempts in the last 15m") == true)
        #expect(texts["runbook"] == "runbooks/provider-5xx.md")
    }

    @Test(
        "the summary of a baseline has what is expected where that is known",
        arguments: [
            (Evidence.Level.reference, 60, 12, "5× of the 12 expected"),
            (.reference, 0, 0.07, "0.07 expected"),
            (.reference, 60, 0, "none expected"),
            (.newNormal, 53, nil, "0.53 % of 10000 attempts"),
            (.learning, 53, nil, "0.53 % of 10000 attempts"),
        ] as [(Evidence.Level, Int64, Double?, String)]
    )
    func summary(level: Evidence.Level, bad: Int64, expected: Double?, text: String) throws {
        let directory = AlertsDirectory(path: ShippedRulesTests.alerts)
        let rule = try #require(directory.ruleSet()["TokenNotRegisteredSpike"])
        let window = WindowCounts(first: Make.start, minutes: 60, counts: AttemptCounts(attempts: 10_000, bad: bad))
        let evidence = Evidence(
            definition: "baseline/2",
            level: level,
            threshold: Fraction(3, 1),
            observed: window,
            worst: window,
            expected: expected
        )
        let facts = AnnotationContext(
            rule: rule.name,
            severity: .page,
            group: GroupKey([.provider: "apns"]),
            startsAt: Make.start,
            evidence: evidence
        )
        #expect(rule.annotations.rendered(facts)["summary"] == "apns: \(bad) sends to unregistered tokens in 1h, \(text)")
    }
}
