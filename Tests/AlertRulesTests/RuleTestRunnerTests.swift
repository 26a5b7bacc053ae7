import AlertRules
import Testing

@Suite("Rule tests")
struct RuleTestRunnerTests {
    private let rule = Make.rule(Make.outage().condition, by: [.provider], name: "Down")

    private func run(_ test: String) -> (report: RuleTestReport, findings: [String]) {
        let (tests, findings) = RuleTestFile.read([SourceText(path: "t.yml", text: "tests:\n" + test)], rules: [rule])
        return (RuleTestRunner.run(tests), findings.map(\.description))
    }

    private func one(_ counts: String, _ expect: String) -> RuleTestReport {
        run("  - { name: n, alert: Down, input: [{ of: { provider: fcm }, counts: '\(counts)' }], expect: [\(expect)] }").report
    }

    @Test("what is expected and happens passes")
    func passes() {
        let report = one(
            "100x60 100/6x30 100x30",
            "{ group: { provider: fcm }, fires: 75m, resolves: 100m, starts: 1h, ends: 90m, severity: page }"
        )
        #expect(report.passed, "\(report.text)")
        #expect(report.text == "ok   Down: n\n1 rule tests, 0 failed")
    }

    @Test("a firing that does not come, or comes unexpected, fails")
    func fails() {
        let missing = one("100x120", "{ group: { provider: fcm }, fires: 75m }")
        #expect(missing.results.first?.failures == ["expected provider=fcm to fire at 1h15m; it did not"])
        let surprise = one("100x60 100/6x30", "")
        #expect(surprise.results.first?.failures == ["did not expect: provider=fcm fired at 1h15m and did not resolve"])
        let other = one(
            "100x60 100/6x30",
            "{ group: { provider: fcm }, fires: 75m, resolves: 80m, severity: ticket, annotations: { summary: x } }"
        )
        #expect(
            other.results.first?.failures == [
                "provider=fcm, fired at 1h15m: expected resolves 1h20m, got never",
                "provider=fcm, fired at 1h15m: expected severity ticket, got page",
                "provider=fcm, fired at 1h15m: expected annotation summary 'x', got 's'",
            ]
        )
        let notified = one("100x60 100/6x30", "{ group: { provider: fcm }, fires: 75m, notified: { 75m: [x] } }")
        #expect(notified.results.first?.failures == ["`notified` needs a receivers.yml next to rules/ and tests/"])
        #expect(!other.passed && other.text.contains("FAIL Down: n (t.yml:2:5)"))
    }

    @Test(
        "faults in tests have their place",
        arguments: [
            ("  - { name: n, alert: Dwn, input: [] }", "t.yml:2:23: error: alert: there is no usable rule 'Dwn'; did you mean 'Down'?"),
            ("  - { name: n, alert: Down }", "t.yml:2:5: error: input: missing"),
            ("  - { name: n, alert: Down, inputs: [] , input: [] }", "t.yml:2:29: error: inputs: unknown key 'inputs'"),
            ("  - { name: n, alert: Down, input: [{ counts: 3/4 }] }", "t.yml:2:47: error: input.counts: '3/4' has more bad"),
            ("  - { name: n, alert: Down, input: [], expect: [{ group: { provider: fcm } }] }", "t.yml:2:49: error: expect.fires: missing"),
            (
                "  - { name: n, alert: Down, input: [], expect: [{ group: { app: x }, fires: 3m }] }",
                "t.yml:2:58: error: expect.group: the rule does"
            ),
            (
                "  - { name: n, alert: Down, input: [{ counts: 3/1, reason: gone }] }",
                "t.yml:2:60: error: input.reason: 'gone' is not one of token_invalid"
            ),
            (
                "  - { name: n, alert: Down, input: [], silences: [{ from: 9m, to: 3m, labels: { app: x } }] }",
                "t.yml:2:67: error: silences.to: a silence ends after it begins"
            ),
            (
                "  - { name: n, alert: Down, input: [], unreachable: [x], expect: [{ group: { provider: fcm }, fires: 3m }] }",
                "t.yml:2:53: error: unreachable: changes whom alerts notify, and this test expects nothing of that"
            ),
            (
                "  - { name: n, alert: Down, input: [], expect: [{ group: { provider: fcm }, fires: 3m, notified: { soon: [x] } }] }",
                "t.yml:2:98: error: expect.notified: 'soon' is not a time"
            ),
        ]
    )
    func faults(text: String, finding: String) {
        let findings = run(text).findings
        #expect(findings.count == 1 && findings.first?.hasPrefix(finding) == true, "\(findings)")
    }
}
