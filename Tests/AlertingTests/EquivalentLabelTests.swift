import AlertRules
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

/// U+212A, the Kelvin sign, is canonically equivalent to the letter K: Swift takes both names for equal, PostgreSQL does not.
@Suite("People and labels that Unicode takes for the same text")
struct EquivalentLabelTests {
    private let names = ["Kim", "\u{212A}im"]

    @Test("both people are among the affected, and each one's successes count for their own device")
    func people() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            for (index, name) in names.enumerated() {
                let prefix = "device\(index)"
                try await traffic.addFacts(Traffic.start, count: 5, reason: "provider_5xx", prefix: prefix, devices: 1, person: name)
                try await traffic.addFacts(Traffic.start + 1, count: 1, prefix: prefix, devices: 1, person: name)
            }
            let window = WindowCounts(first: Traffic.start, minutes: 15, counts: AttemptCounts(attempts: 12, bad: 10))
            let group = GroupKey([.provider: "fcm"])
            let people = try await AffectedPerson.some(Rules.provider5xx, group: group, window: window, on: pool)
            #expect(Set(people.map { Array($0.uid.utf8) }) == Set(names.map { Array($0.utf8) }))
            let sample = try await AttemptSample.read(Rules.provider5xx, group: group, window: window, time: .seconds(5), on: pool)
            #expect((sample.bad, sample.devices, sample.areAllDevices) == (10, 0, true))
        }
    }

    @Test("Alertmanager is sent the alerts of both apps")
    func alertmanager() {
        let messages = names.map { name in
            var message = Messages.firing
            message.labels["app"] = name
            return message
        }
        let alerts = AlertmanagerAlert.latest(messages + messages, now: Messages.now, staleSince: nil)
        #expect(alerts.map { Array(($0.labels["app"] ?? "").utf8) } == names.map { Array($0.utf8) })
    }
}
