import Foundation
import PushContract
import Testing

@testable import Alerting

@Suite("When a page goes to further receivers")
struct EscalationPolicyTests {
    private static let start = Timestamp(rfc3339: "2026-01-05T12:00:00Z")!
    private let people: Set<String> = ["a", "b", "c", "d"]
    private let policy = EscalationPolicy(
        unconfirmedAfter: .seconds(120),
        unacknowledgedAfter: .seconds(900),
        steps: [.init(receivers: ["b"]), .init(receivers: ["c"], wait: .seconds(300)), .init(receivers: ["d"])]
    )

    private func state(_ step: Int, confirmed: Bool, _ notified: Set<String>) -> EscalationState {
        EscalationState(step: step, since: Self.start, isConfirmed: confirmed, notified: notified)
    }

    private func next(_ state: EscalationState, after seconds: Int64) -> EscalationPolicy.Escalation? {
        policy.next(after: state, people: people, at: Self.start + .seconds(seconds))
    }

    @Test("a page that no receiver accepted goes on after `unconfirmed`, one that was accepted after `unacknowledged`")
    func first() {
        #expect(next(state(0, confirmed: false, ["a"]), after: 119) == nil)
        #expect(next(state(0, confirmed: false, ["a"]), after: 120) == .init(step: 1, receivers: ["b"], reason: .unconfirmed))
        #expect(next(state(0, confirmed: true, ["a"]), after: 899) == nil)
        #expect(next(state(0, confirmed: true, ["a"]), after: 900) == .init(step: 1, receivers: ["b"], reason: .unacknowledged))
    }

    @Test("a later step waits as long as it says, else for `unacknowledged`; after the last one there is none")
    func later() {
        #expect(next(state(1, confirmed: true, ["a", "b"]), after: 299) == nil)
        #expect(next(state(1, confirmed: true, ["a", "b"]), after: 300)?.receivers == ["c"])
        #expect(next(state(1, confirmed: false, ["a", "b"]), after: 120)?.receivers == ["c"])
        #expect(next(state(2, confirmed: true, ["a", "b", "c"]), after: 899) == nil)
        #expect(next(state(2, confirmed: true, ["a", "b", "c"]), after: 900)?.receivers == ["d"])
        #expect(next(state(3, confirmed: false, ["a", "b", "c", "d"]), after: 1_000_000) == nil)
    }

    @Test("a step with nobody to reach is skipped at once: notified before, not configured, or a log")
    func skipped() {
        #expect(next(state(0, confirmed: false, ["a", "b"]), after: 120) == .init(step: 2, receivers: ["c"], reason: .unconfirmed))
        #expect(
            policy.next(after: state(0, confirmed: false, ["a"]), people: ["a", "d"], at: Self.start + .seconds(120))?.receivers == ["d"]
        )
        #expect(policy.next(after: state(0, confirmed: false, ["a"]), people: ["a"], at: Self.start + .seconds(120)) == nil)
    }

    @Test("of a reopened alert, steps notify again who was not paged since")
    func reopened() {
        let all: Set<String> = ["a", "b", "c", "d"]
        let state = EscalationState(step: 0, since: Self.start, isConfirmed: true, notified: all, paged: ["b"])
        #expect(next(state, after: 0) == nil)
        #expect(next(state, after: 900) == .init(step: 2, receivers: ["c"], reason: .unacknowledged))
    }

    @Test("a page whose routes lead to nobody waits for nothing")
    func nobody() {
        #expect(next(state(0, confirmed: false, ["log", "removed"]), after: 0) == .init(step: 1, receivers: ["b"], reason: .noReceiver))
        #expect(next(state(0, confirmed: false, []), after: 0)?.step == 1)
    }

    @Test(
        "duty changes weekly at the local time, through summer time, before its start too, and overrides win",
        arguments: [
            ("2026-01-05T07:59:00Z", "c"), ("2026-01-05T08:00:00Z", "a"), ("2026-01-12T07:59:00Z", "a"), ("2026-01-12T08:00:00Z", "b"),
            // Summer time begins on 29 March: 09:00 is 07:00 UTC.
            ("2026-03-30T06:59:00Z", "c"), ("2026-03-30T07:00:00Z", "a"), ("2025-12-29T08:00:00Z", "c"), ("2025-12-22T08:00:00Z", "b"),
            ("2026-01-15T11:59:00Z", "b"), ("2026-01-15T12:00:00Z", "d"), ("2026-01-15T13:00:00Z", "b"),
        ]
    )
    func duty(_ at: String, _ expected: String) throws {
        let rotation = DutyRotation(
            receivers: ["a", "b", "c"],
            start: try #require(Timestamp(rfc3339: "2026-01-05T09:00:00Z")).seconds,
            zone: try #require(TimeZone(identifier: "Europe/Berlin")),
            overrides: [
                .init(
                    from: try #require(Timestamp(rfc3339: "2026-01-15T12:00:00Z")),
                    to: try #require(Timestamp(rfc3339: "2026-01-15T13:00:00Z")),
                    receiver: "d"
                )
            ]
        )
        #expect(rotation.receiver(at: try #require(Timestamp(rfc3339: at))) == expected)
    }

    @Test(
        "duty changes once where clocks show its hour twice or skip it",
        arguments: [
            // The clocks of Berlin show 02:30 at 00:30 and at 01:30 UTC.
            ("2026-10-18T02:30:00Z", "2026-10-25T00:29:00Z", "a"), ("2026-10-18T02:30:00Z", "2026-10-25T00:30:00Z", "b"),
            ("2026-10-18T02:30:00Z", "2026-10-25T01:10:00Z", "b"), ("2026-10-18T02:30:00Z", "2026-10-25T01:30:00Z", "b"),
            // From 02:00 to 03:00 at 01:00 UTC.
            ("2026-03-22T02:30:00Z", "2026-03-29T00:59:00Z", "a"), ("2026-03-22T02:30:00Z", "2026-03-29T01:29:00Z", "a"),
            ("2026-03-22T02:30:00Z", "2026-03-29T01:30:00Z", "b"),
        ]
    )
    func changeOfClocks(_ start: String, _ at: String, _ expected: String) throws {
        let rotation = DutyRotation(
            receivers: ["a", "b"],
            start: try #require(Timestamp(rfc3339: start)).seconds,
            zone: try #require(TimeZone(identifier: "Europe/Berlin"))
        )
        #expect(rotation.receiver(at: try #require(Timestamp(rfc3339: at))) == expected)
    }

    @Test(
        "a local time is the first moment at which clocks show it",
        arguments: [
            ("Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"),
            ("America/New_York", "2026-11-01T01:30:00Z", "2026-11-01T05:30:00Z"),
            ("Europe/Berlin", "2026-03-29T02:30:00Z", "2026-03-29T01:30:00Z"),
            ("America/New_York", "2026-03-08T02:30:00Z", "2026-03-08T07:30:00Z"),
            ("Europe/Berlin", "2026-07-01T12:00:00Z", "2026-07-01T10:00:00Z"),
            ("Pacific/Auckland", "2026-04-05T02:30:00Z", "2026-04-04T13:30:00Z"),
            ("Australia/Lord_Howe", "2026-10-04T02:15:00Z", "2026-10-03T15:45:00Z"),
        ]
    )
    func local(_ zone: String, _ shown: String, _ expected: String) throws {
        let local = try #require(Timestamp(rfc3339: shown)).seconds
        #expect(try #require(TimeZone(identifier: zone)).firstMoment(ofLocal: local) == Timestamp(rfc3339: expected))
    }
}
