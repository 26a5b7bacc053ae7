import AlertRules
import Foundation
import PushContract
import Testing

@testable import Alerting

@Suite("escalate and duty in alerts/receivers.yml")
struct EscalationFileTests {
    private static let receivers = """
        receivers:
          - { name: a, ntfy: { topic: a } }
          - { name: b, ntfy: { topic: b } }
          - { name: c, ntfy: { topic: c } }
          - { name: log, log: {} }
        routes:
          - { receivers: [a] }

        """
    private let duty = "duty:\n  week:\n    rotation: [b, c]\n    start: 2026-03-30 09:00\n    zone: Europe/Berlin\n"

    @Test("waits, steps and who is on duty, local times by the zone of the list")
    func reads() throws {
        let overrides = "    overrides: [{ from: 2026-04-02 08:00, to: 2026-04-02 20:00, receiver: c }]\n"
        let set = try ReceiverFile.parse(
            Self.receivers + "escalate:\n  unconfirmed: 3m\n  steps:\n    - { duty: week }\n    - { receivers: [c], wait: 1h }\n" + duty
                + overrides
        )
        let policy = try #require(set.escalation)
        #expect(policy.unconfirmedAfter == .seconds(180) && policy.unacknowledgedAfter == .seconds(900))
        #expect(policy.steps.map(\.wait) == [nil, .seconds(3600)])
        func onDuty(_ at: String) throws -> [String] { policy.steps[0].receivers(at: try #require(Timestamp(rfc3339: at))) }
        #expect(try onDuty("2026-03-30T07:00:00Z") == ["b"])
        #expect(try onDuty("2026-04-06T07:00:00Z") == ["c"])
        #expect(try onDuty("2026-04-02T05:59:00Z") == ["b"])
        #expect(try onDuty("2026-04-02T06:00:00Z") == ["c"])
        #expect(try onDuty("2026-04-02T18:00:00Z") == ["b"])
    }

    @Test(
        "what is wrong is said with its line",
        arguments: [
            ("escalate: { steps: [] }", "escalate needs steps"),
            ("escalate:\n  steps:\n    - { receivers: [x] }", "receivers.yml:10: there is no receiver 'x'; defined: a, b, c, log"),
            ("escalate:\n  steps:\n    - { wait: 5m, receivers: [b] }", "the first step waits for 'unconfirmed' or 'unacknowledged'"),
            ("escalate:\n  steps:\n    - { duty: night }", "there is no duty list 'night'; defined: week"),
            ("escalate:\n  steps:\n    - { receivers: [b, c, b] }", "receivers.yml:10: the step names the receiver 'b' twice"),
            ("escalate:\n  steps:\n    - {}", "a step needs receivers or duty"),
            ("escalate:\n  steps:\n    - { receivers: [b], every: 5m }", "unknown key 'every'; known: receivers, duty, wait"),
            ("escalate: { unconfirmed: 0m, steps: [{ receivers: [b] }] }", "unconfirmed is a duration from 1m to 1d, such as 15m"),
            ("escalate: { steps: [{ receivers: [b] }] }", "no step of escalate names the duty list 'week'"),
            ("", "'duty' is for steps of 'escalate', which is missing"),
        ]
    )
    func faults(_ escalate: String, _ expected: String) {
        let fault = #expect(throws: ReceiverFile.Fault.self) { try ReceiverFile.parse(Self.receivers + escalate + "\n" + duty) }
        #expect(fault?.description.contains(expected) == true, "\(fault.map(\.description) ?? "")")
    }

    @Test(
        "a duty list names receivers, a start and a zone",
        arguments: [
            ("rotation: [b], start: 2026-03-30 09:00, zone: Berlin", "zone is an IANA name such as Europe/Berlin"),
            ("rotation: [b], start: monday, zone: UTC", "start is a local time such as 2026-01-05 09:00"),
            ("rotation: [], start: 2026-03-30 09:00, zone: UTC", "a rotation needs receivers"),
            (
                "rotation: [b], start: 2026-03-30 09:00, zone: UTC, overrides: [{ from: 2026-04-02 08:00, to: 2026-04-02 08:00, receiver: c }]",
                "an override begins before it ends"
            ),
        ]
    )
    func duties(_ list: String, _ expected: String) {
        let file = Self.receivers + "escalate: { steps: [{ duty: week }] }\nduty: { week: { \(list) } }\n"
        let fault = #expect(throws: ReceiverFile.Fault.self) { try ReceiverFile.parse(file) }
        #expect(fault?.description.contains(expected) == true, "\(fault.map(\.description) ?? "")")
    }

    @Test(
        "a step that can notify nobody is an error of rules check, and its receivers count as reached",
        arguments: [
            ("[{ receivers: [log] }, { receivers: [b, c] }]", ":10:6: error: no receiver of this step notifies people"),
            ("[{ receivers: [b, c] }, { receivers: [a, b] }]", "every page is notified to a, b before this step, so it notifies nobody"),
            ("[{ receivers: [b] }, { receivers: [log, a] }]", "no alert reaches the receiver 'c'"),
            ("[{ receivers: [b] }, { receivers: [c, log] }]", nil),
        ] as [(String, String?)]
    )
    func deadSteps(_ steps: String, _ expected: String?) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("escalation-\(UUID().uuidString).yml")
        defer { try? FileManager.default.removeItem(at: file) }
        try (Self.receivers + "escalate:\n  steps:\n    \(steps)\n").write(to: file, atomically: true, encoding: .utf8)
        let findings = ReceiverFile.check(path: file.path, environment: [:], rules: [Rules.provider5xx]).map(\.description)
        if let expected {
            #expect(findings.contains { $0.contains(expected) }, "\(findings)")
        } else {
            #expect(findings.isEmpty, "\(findings)")
        }
    }
}
