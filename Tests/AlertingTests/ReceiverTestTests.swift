import AlertRules
import Testing

@testable import Alerting

@Suite("Rule tests of whom an alert notifies")
struct ReceiverTestTests {
    private static let rules = """
        groups:
          - name: g
            rules:
              - alert: Total
                ratio: { reason: [auth, provider_5xx], above: 50%, reopen_within: "off" }
                for: 10m
                by: [provider]
                labels: { severity: critical }
                annotations: { summary: s, meaning: m, action: a, runbook: "https://example.org" }
              - alert: Down
                ratio: { reason: [provider_5xx], above: 5%, reopen_within: "off" }
                for: 15m
                by: [provider]
                labels: { severity: page }
                annotations: { summary: s, meaning: m, action: a, runbook: "https://example.org" }
                suppressed_by: [Total]
        """
    private static let receivers = """
        receivers:
          - { name: on-call, ntfy: { topic: a } }
          - { name: phone, ntfy: { topic: b } }
          - { name: manager, ntfy: { topic: c } }
          - { name: chief, ntfy: { topic: d } }
        routes:
          - { severity: [page, critical], receivers: [on-call] }
          - { severity: [page], labels: { provider: apns }, receivers: [phone] }
        escalate:
          unconfirmed: 2m
          unacknowledged: 20m
          steps:
            - receivers: [manager]
            - { receivers: [chief], wait: 10m }
        """

    /// The failures of one test; `Down` fires 75 minutes after the start and resolves 100 minutes after it.
    private func failures(
        _ events: String = "",
        group: String = "fcm",
        counts: String = "100x60 100/6x30 100x60",
        fires: String = "75m, resolves: 100m",
        reason: String = "",
        notified: String
    ) throws -> [String] {
        let test = """
            tests:
              - name: n
                alert: Down
                input: [{ of: { provider: \(group) }, counts: "\(counts)"\(reason) }]
                expect: [{ group: { provider: \(group) }, fires: \(fires), notified: \(notified) }]
                \(events)
            """
        let rules = RuleSet.read([SourceText(path: "r.yml", text: Self.rules)]) { _ in true }
        let (tests, findings) = RuleTestFile.read([SourceText(path: "t.yml", text: test)], rules: rules.rules)
        #expect(rules.findings.isEmpty && findings.isEmpty, "\(rules.findings) \(findings)")
        return RuleTestRunner.run(tests, ReceiverTest(try ReceiverFile.parse(Self.receivers))).results.flatMap(\.failures)
    }

    @Test("the receivers of the routes, and steps of escalation while nobody acknowledges")
    func routes() throws {
        #expect(try failures("acknowledged: 80m", notified: "{ 75m: [on-call] }") == [])
        #expect(try failures("acknowledged: 80m", group: "apns", notified: "{ 75m: [phone, on-call] }") == [])
        #expect(try failures(notified: "{ 75m: [on-call], 95m: [manager] }") == [])
        #expect(
            try failures(notified: "{ 75m: [phone] }") == [
                "provider=fcm, fired at 1h15m: expected to notify phone at 1h15m, got on-call at 1h15m; manager at 1h35m"
            ]
        )
    }

    @Test("receivers that accept nothing make the next step earlier")
    func unreachable() throws {
        #expect(try failures("unreachable: [on-call]", notified: "{ 75m: [on-call], 77m: [manager], 87m: [chief] }") == [])
        #expect(try failures("unreachable: [on-call, manager]", notified: "{ 75m: [on-call], 77m: [manager], 79m: [chief] }") == [])
    }

    @Test("a silence keeps everybody until it ends, and escalation waits for that")
    func silences() throws {
        let whole = "silences: [{ from: 0m, to: 2h, labels: { alertname: Down } }]"
        #expect(try failures(whole, notified: "{}") == [])
        let part = "silences: [{ from: 70m, to: 79m, labels: { provider: f* } }]"
        #expect(try failures(part, notified: "{ 79m: [on-call], 99m: [manager] }") == [])
        let other = "silences: [{ from: 0m, to: 2h, labels: { provider: apns } }]"
        #expect(try failures(other + "\n    acknowledged: 75m", notified: "{ 75m: [on-call] }") == [])
    }

    @Test("a suppressed page notifies whom its cause did not; a reason that the cause does not count suppresses nothing")
    func suppression() throws {
        let counts = "100x60 100/90x30 100x60"
        #expect(try failures(group: "fcm", counts: counts, fires: "75m, resolves: 100m", notified: "{}") == [])
        #expect(try failures(group: "apns", counts: counts, fires: "75m, resolves: 100m", notified: "{ 75m: [phone] }") == [])
    }

    @Test("bad attempts of another reason are no bad attempts of the rule")
    func reasons() throws {
        let failures = try failures(reason: ", reason: auth", notified: "{ 75m: [on-call] }")
        #expect(failures == ["expected provider=fcm to fire at 1h15m; it did not"])
    }

    @Test("names that receivers.yml does not have, and a missing receivers.yml, fail the test")
    func names() throws {
        #expect(
            try failures("unreachable: [pager]", notified: "{ 75m: [on-call] }").first
                == "receivers.yml has no receiver 'pager'; it has on-call, phone, manager, chief"
        )
        #expect(try failures(notified: "{ 75m: [pager] }").first?.contains("no receiver 'pager'") == true)
    }
}
