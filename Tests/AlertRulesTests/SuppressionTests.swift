import AlertRules
import Testing

@Suite("Suppressing what another alert explains")
struct SuppressionTests {
    private static let start = Make.start

    private func span(_ rule: String, _ group: [Dimension: String], starts: Int, fires: Int, resolves: Int? = nil) -> Suppression.Span {
        Suppression.Span(
            rule: rule,
            group: GroupKey(group),
            startsAt: Self.start + starts,
            firedAt: Self.start + fires,
            resolvedAt: resolves.map { Self.start + $0 }
        )
    }

    private func outcome(_ consequence: Suppression.Span, lastSet: Int, _ causes: Suppression.Span...) -> String {
        switch Suppression.outcome(of: consequence, lastSet: Self.start + lastSet, causes: causes) {
        case .notified: "notified"
        case .delayed(let cause, let minute): "\(cause) until \(minute - Self.start)"
        case .suppressed(let cause): "\(cause)"
        }
    }

    @Test("when both fire in the same minute the consequence is suppressed, and nobody is notified when it ends with its cause")
    func together() {
        let app = span("InApp", [.provider: "apns", .app: "a"], starts: 0, fires: 10, resolves: 62)
        #expect(outcome(app, lastSet: 40, span("Auth", [.provider: "apns"], starts: 0, fires: 10, resolves: 55)) == "Auth")
        #expect(outcome(app, lastSet: 54, span("Auth", [.provider: "apns"], starts: 0, fires: 10, resolves: 55)) == "Auth until 55")
        #expect(outcome(app, lastSet: 53, span("Auth", [.provider: "apns"], starts: 0, fires: 10, resolves: 55)) == "Auth")
        #expect(outcome(app, lastSet: 61, span("Auth", [.provider: "apns"], starts: 0, fires: 10)) == "Auth")
    }

    @Test("another provider or app, a cause that comes later or had ended, and a fault that begins later suppress nothing")
    func notified() {
        let app = span("InApp", [.provider: "apns", .app: "a"], starts: 0, fires: 10)
        #expect(outcome(app, lastSet: 60, span("Auth", [.provider: "fcm"], starts: 0, fires: 10)) == "notified")
        #expect(outcome(app, lastSet: 60, span("Auth", [.provider: "apns", .app: "b"], starts: 0, fires: 10)) == "notified")
        #expect(outcome(app, lastSet: 60, span("Auth", [.provider: "apns"], starts: 0, fires: 11)) == "notified")
        #expect(outcome(app, lastSet: 60, span("Auth", [.provider: "apns"], starts: -20, fires: -10, resolves: 9)) == "notified")
        let later = span("InApp", [.provider: "apns", .app: "a"], starts: 100, fires: 110)
        #expect(outcome(later, lastSet: 160, span("Auth", [.provider: "apns"], starts: 0, fires: 99)) == "notified")
        #expect(outcome(later, lastSet: 160, span("Auth", [.provider: "apns"], starts: 0, fires: 100)) == "Auth")
        #expect(outcome(app, lastSet: 60) == "notified")
    }

    @Test("sends that wait too long began to wait before the queue that grows fired, and are suppressed by it")
    func waiting() throws {
        let rule = Make.rule(.queueAge(QueueAgeCondition(above: RuleDuration(minutes: 15), for: RuleDuration(minutes: 15))))
        // Nothing is sent from the first minute on: older than 15 minutes in minutes 16 to 30.
        let ages = (0..<40).map { MinuteCounts(minute: Self.start + $0, attempts: 1, bad: Int64($0) * 60) }
        let fired = try #require(Make.transitions(rule, GroupHistory(series: MinuteSeries(ages))).first)
        #expect(fired.startsAt - Self.start == 1 && fired.firedAt - Self.start == 31)
        let late = span("SendsWaitTooLong", [.provider: "fcm"], starts: fired.startsAt - Self.start, fires: fired.firedAt - Self.start)
        #expect(outcome(late, lastSet: 60, span("SendBacklogGrowing", [.provider: "fcm"], starts: 0, fires: 14)) == "SendBacklogGrowing")
    }

    @Test("what is a ticket for now, such as a baseline that learns, suppresses no page, but does suppress a ticket")
    func tickets() {
        var cause = span("Spike", [.provider: "apns"], starts: 0, fires: 10)
        var consequence = span("Other", [.provider: "apns"], starts: 0, fires: 12)
        #expect(outcome(consequence, lastSet: 60, cause) == "Spike")
        cause.severity = .ticket
        #expect(outcome(consequence, lastSet: 60, cause) == "notified")
        consequence.severity = .critical
        #expect(outcome(consequence, lastSet: 60, cause) == "notified")
        consequence.severity = .info
        #expect(outcome(consequence, lastSet: 60, cause) == "Spike")
    }

    @Test("a second cause takes over; no group agrees with every group")
    func chain() {
        let nothing = span("Nothing", [.provider: "apns"], starts: 0, fires: 10)
        let first = span("Auth", [.provider: "apns"], starts: 0, fires: 10, resolves: 50)
        #expect(outcome(nothing, lastSet: 200, first, span("All", [:], starts: 0, fires: 45)) == "Auth")
        #expect(outcome(nothing, lastSet: 200, first, span("All", [:], starts: 0, fires: 45, resolves: 120)) == "Auth until 120")
        #expect(outcome(nothing, lastSet: 200, first, span("All", [:], starts: 0, fires: 51)) == "Auth until 50")
    }

    @Test("causes are evaluated before what they suppress, whatever the order of the files, what failed comes last, and a cycle ends")
    func order() {
        func rule(_ name: String, _ causes: [String]) -> AlertRule {
            let plain = Make.outage()
            return AlertRule(
                name: name,
                ruleGroup: "g",
                condition: plain.condition,
                by: [],
                severity: .page,
                labels: [:],
                annotations: plain.annotations,
                suppressedBy: causes,
                source: plain.source
            )
        }
        let rules = [rule("C", ["B"]), rule("X", []), rule("B", ["A", "Gone"]), rule("A", [])]
        #expect(Suppression.causesFirst(rules).map(\.name) == ["A", "B", "C", "X"])
        #expect(Suppression.causesFirst([rule("P", ["Q"]), rule("Q", ["P"])]).map(\.name).sorted() == ["P", "Q"])
        // With what they suppress; a series that failed is no rule.
        #expect(Suppression.causesFirst(rules, last: ["A", "a series"]).map(\.name) == ["X", "A", "B", "C"])
        #expect(Suppression.causesFirst(rules, last: ["C"]).map(\.name) == ["A", "B", "X", "C"])
        #expect(Suppression.causesFirst(rules, last: []).map(\.name) == ["A", "B", "C", "X"])
        #expect(rule("A", ["B"]).version == rule("A", []).version, "it says who is notified, not when it fires")
    }

    @Test(
        "rules check refuses what cannot be meant",
        arguments: [
            ("[Nobody]", "page", "there is no rule 'Nobody'"), ("[Cuase]", "page", "did you mean 'Cause'?"),
            ("[Test]", "page", "a rule cannot suppress itself"), ("[Circle]", "page", "'Circle' is itself suppressed by this rule"),
            ("[Ticket]", "page", "'Ticket' does not page, so it must not suppress a rule that does"),
            ("[Cause, Cause]", "page", "'Cause' is listed twice"),
            ("[Ticket, Cause]", "ticket", ""), ("Cause", "critical", ""),
        ]
    )
    func check(_ causes: String, _ severity: String, _ finding: String) {
        func rule(_ name: String, _ severity: String, _ causes: String?) -> String {
            """
                  - alert: \(name)
                    ratio: { reason: auth, above: 1% }
                    for: 10m
                    labels: { severity: \(severity) }
                    annotations: { summary: s, meaning: m, action: a, runbook: https://x.test/r }

            """ + (causes.map { "        suppressed_by: \($0)\n" } ?? "")
        }
        let text =
            "groups:\n  - name: g\n    rules:\n" + rule("Test", severity, causes) + rule("Cause", "page", nil)
            + rule("Ticket", "ticket", nil)
            + rule("Circle", "ticket", "[Far]") + rule("Far", "ticket", "[Test]")
        let set = RuleSet.read([SourceText(path: "r.yml", text: text)], runbookExists: { _ in true })
        let found = set.findings.map(\.description).filter { $0.contains("suppressed_by") }
        // What the circle's other members say of it depends on the case; the case at hand must be among them, or none at all.
        if finding.isEmpty {
            #expect(found == [] && set["Test"]?.suppressedBy.isEmpty == false)
        } else {
            #expect(found.contains { $0.contains(finding) && $0.contains("error") }, "\(found)")
        }
    }
}
