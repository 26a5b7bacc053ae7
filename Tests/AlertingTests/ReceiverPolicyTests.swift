import AlertRules
import Foundation
import HTTPClient
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

/// Keeps every request and answers as configured.
private final class Wire: Sendable {
    let requests = Mutex<[OutboundRequest]>([])
    let answer: @Sendable (OutboundRequest, Int) -> OutboundResponse

    init(_ answer: @escaping @Sendable (OutboundRequest, Int) -> OutboundResponse = { _, _ in Wire.response(200, "ok") }) {
        self.answer = answer
    }

    @Sendable func send(_ request: OutboundRequest) async throws -> OutboundResponse {
        let number = requests.withLock {
            $0.append(request)
            return $0.count
        }
        return answer(request, number)
    }

    static func response(_ status: Int, _ body: String) -> OutboundResponse {
        OutboundResponse(status: status, headers: [], body: Array(body.utf8), latency: .zero)
    }

    var bodies: [[String: Any]] {
        requests.withLock { $0 }.map { (try? JSONSerialization.jsonObject(with: Data($0.body))) as? [String: Any] ?? [:] }
    }
    var count: Int { requests.withLock { $0.count } }
}

@Suite("When and how often receivers are notified")
struct ReceiverPolicyTests {
    private static let key = String(repeating: "k", count: 32)
    private let hook = "http://hook.example.org/x"

    private func receiver(_ name: String, _ policy: ReceiverPolicy = ReceiverPolicy()) -> ReceiverConfiguration {
        ReceiverConfiguration(WebhookReceiver(name: name, url: hook, secret: nil), policy: policy)
    }

    @Test(
        "quiet hours follow the clock of the place, over midnight and through both changes of summer time",
        arguments: [
            ("2026-01-05T20:59:00Z", false), ("2026-01-05T21:00:00Z", true), ("2026-01-06T05:59:00Z", true),
            ("2026-01-06T06:00:00Z", false),
            ("2026-07-05T19:59:00Z", false), ("2026-07-05T20:00:00Z", true), ("2026-07-06T04:59:00Z", true),
            ("2026-07-06T05:00:00Z", false),
            ("2026-03-29T00:30:00Z", true), ("2026-03-29T05:00:00Z", false), ("2026-10-25T05:30:00Z", true),
            ("2026-10-25T06:00:00Z", false),
        ]
    )
    func quietHours(_ at: String, _ isQuiet: Bool) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let hours = try #require(QuietHours("22:00-07:00", zone: zone))
        let now = try #require(Timestamp(rfc3339: at))
        #expect(hours.contains(now) == isQuiet)
    }

    @Test("in quiet hours pages are sent, tickets wait, and one that ended meanwhile is one message")
    func quiet() async throws {
        try await withDatabase { pool in
            let zone = try #require(TimeZone(identifier: "UTC"))
            let quiet = try #require(QuietHours("12:00-13:30", zone: zone))
            let receivers = [receiver("hook", ReceiverPolicy(quiet: quiet))]
            let (clock, wire) = (ManualClock((Traffic.start + 5).timestamp), Wire())
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            let ticket = try await TestNotification.fire(
                receivers: ["hook"],
                severity: .ticket,
                recording: .test("t", at: clock.now),
                on: pool
            )
            try await notifier.deliverDue()
            #expect(wire.count == 0)
            try await TestNotification.resolve(ticket, at: clock.now, on: pool)
            try await notifier.deliverDue()
            #expect(wire.count == 0)
            let page = try await TestNotification.fire(receivers: ["hook"], severity: .page, recording: .test("t", at: clock.now), on: pool)
            try await notifier.deliverDue()
            #expect(wire.count == 1)
            clock.set((Traffic.start + 91).timestamp)
            try await notifier.deliverDue()
            #expect(wire.bodies.map { $0["status"] as? String } == ["firing", "resolved"])
            try await TestNotification.resolve(page, at: clock.now, on: pool)
        }
    }

    @Test("a limit holds over a sliding minute, and a page goes before the tickets that came first")
    func rateLimit() async throws {
        try await withDatabase { pool in
            let receivers = [receiver("hook", ReceiverPolicy(perMinute: 3))]
            let (clock, wire) = (ManualClock(), Wire())
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            try await fireMany(pool, 8, severity: "ticket", at: clock.now)
            clock.advance(.seconds(1))
            try await fireMany(pool, 1, severity: "page", at: clock.now)
            for _ in 0..<5 { try await notifier.deliverDue() }
            #expect(wire.count == 3)
            let first = (wire.bodies.first?["commonLabels"] as? [String: Any])?["severity"] as? String
            #expect(wire.bodies.contains { ($0["commonLabels"] as? [String: Any])?["severity"] as? String == "page" }, "\(first ?? "")")
            clock.advance(.seconds(59))
            try await notifier.deliverDue()
            #expect(wire.count == 3, "the minute is not over")
            clock.advance(.seconds(2))
            for _ in 0..<5 { try await notifier.deliverDue() }
            #expect(wire.count == 6)
        }
    }

    /// Alerts of their own, as an evaluator writes them.
    private func fireMany(_ pool: PostgresPool, _ count: Int, severity: String, at now: Timestamp) async throws {
        for _ in 0..<count {
            let id = try await TestNotification.fire(
                receivers: ["hook"],
                severity: Severity(rawValue: severity) ?? .page,
                recording: .test("t", at: now),
                on: pool
            )
            // A second test notification would end the first.
            try await pool.execute("UPDATE alerts SET rule = \(id.uuidString) WHERE alertId = \(id)")
        }
    }

    @Test("PagerDuty is notified of an acknowledgement, between trigger and resolve, under one key; a webhook is not")
    func acknowledged() async throws {
        try await withDatabase { pool in
            let receivers = [
                ReceiverConfiguration(PagerDutyReceiver(name: "pd", routingKey: Self.key, url: "http://pd.example.org")), receiver("hook"),
            ]
            let wire = Wire { request, _ in Wire.response(request.url.contains("pd.") ? 202 : 200, "{}") }
            let clock = ManualClock((Traffic.start + 60).timestamp)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            let id = try await TestNotification.fire(
                receivers: ["pd", "hook"],
                severity: .page,
                recording: .test("t", at: clock.now),
                on: pool
            )
            // Acknowledged before anything was delivered: the order is kept.
            #expect(try await AlertStore.acknowledge(id, recording: .test("Ada", at: clock.now), on: pool) == .now)
            #expect(try await AlertStore.acknowledge(id, recording: .test("Bob", at: clock.now), on: pool) == .before)
            for _ in 0..<3 { try await notifier.deliverDue() }
            try await TestNotification.resolve(id, at: clock.now, on: pool)
            for _ in 0..<3 { try await notifier.deliverDue() }
            let events = wire.bodies.filter { $0["event_action"] != nil }
            #expect(events.map { $0["event_action"] as? String } == ["trigger", "acknowledge", "resolve"])
            #expect(Set(events.map { $0["dedup_key"] as? String }).count == 1)
            #expect(wire.bodies.compactMap { $0["status"] as? String } == ["firing", "resolved"])
        }
    }

    @Test("a Slack app posts once, then edits that message and answers below it")
    func slackBot() async throws {
        try await withDatabase { pool in
            let receivers = [
                ReceiverConfiguration(SlackBotReceiver(name: "slack", token: "xoxb-1", channel: "C1", url: "http://slack/api"))
            ]
            let wire = Wire { request, number in
                request.url.hasSuffix("chat.postMessage") && number == 2
                    ? Wire.response(200, #"{"ok":true,"channel":"C1","ts":"17.42","message":{}}"#)
                    : number == 1
                        ? Wire.response(200, #"{"ok":false,"error":"ratelimited"}"#)
                        : Wire.response(200, #"{"ok":true,"channel":"C1","ts":"18.0","message":{"thread_ts":"17.42"}}"#)
            }
            let clock = ManualClock((Traffic.start + 60).timestamp)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            let id = try await TestNotification.fire(receivers: ["slack"], severity: .page, recording: .test("t", at: clock.now), on: pool)
            try await notifier.deliverDue()
            clock.advance(.seconds(5))
            try await notifier.deliverDue()
            #expect(try await AlertStore.acknowledge(id, recording: .test("Ada", at: clock.now), on: pool) == .now)
            try await notifier.deliverDue()
            try await TestNotification.resolve(id, at: clock.now, on: pool)
            try await notifier.deliverDue()
            let calls = wire.requests.withLock { $0.map { String($0.url.split(separator: "/").last ?? "") } }
            #expect(
                calls == ["chat.postMessage", "chat.postMessage", "chat.update", "chat.postMessage", "chat.update", "chat.postMessage"]
            )
            let bodies = wire.bodies
            #expect(bodies[2]["ts"] as? String == "17.42" && bodies[3]["thread_ts"] as? String == "17.42")
            #expect((bodies[3]["text"] as? String)?.hasPrefix("ACKNOWLEDGED by Ada") == true)
            #expect((bodies[5]["text"] as? String)?.hasPrefix("RESOLVED") == true)
            #expect(bodies.allSatisfy { $0["channel"] as? String == "C1" })
            let stored = try await pool.query("SELECT responsePrefix || coalesce(error, '') FROM notificationAttempts").map {
                try $0.decode(String?.self)
            }
            #expect(!stored.contains { $0?.contains("xoxb") == true })
        }
    }

    @Test(
        "when a Slack message cannot be edited any more, the thread goes on; when it was deleted, another message begins one",
        arguments: ["cant_update_message", "edit_window_closed", "message_not_found"]
    )
    func slackEdit(_ fault: String) async throws {
        try await withDatabase { pool in
            let receivers = [
                ReceiverConfiguration(SlackBotReceiver(name: "slack", token: "xoxb-1", channel: "C1", url: "http://slack/api"))
            ]
            let wire = Wire { request, number in
                let body = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any]
                if number == 2 { return Wire.response(200, #"{"ok":false,"error":"\#(fault)"}"#) }
                let thread = (body?["thread_ts"] as? String).map { #","thread_ts":"\#($0)""# } ?? ""
                return Wire.response(200, #"{"ok":true,"channel":"C1","ts":"\#(number).0","message":{"text":""\#(thread)}}"#)
            }
            let clock = ManualClock((Traffic.start + 60).timestamp)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            let id = try await TestNotification.fire(receivers: ["slack"], severity: .page, recording: .test("t", at: clock.now), on: pool)
            try await notifier.deliverDue()
            #expect(try await AlertStore.acknowledge(id, recording: .test("Ada", at: clock.now), on: pool) == .now)
            try await notifier.deliverDue()
            try await TestNotification.resolve(id, at: clock.now, on: pool)
            try await notifier.deliverDue()
            let isGone = fault == "message_not_found"
            let bodies = wire.bodies
            try #require(bodies.count == 5)
            #expect(bodies[2]["thread_ts"] as? String == (isGone ? nil : "1.0"))
            #expect((bodies[2]["blocks"] != nil) == isGone)
            #expect(bodies[3]["ts"] as? String == (isGone ? "3.0" : "1.0"))
            #expect(bodies[4]["thread_ts"] as? String == (isGone ? "3.0" : "1.0"))
            #expect((bodies[4]["text"] as? String)?.hasPrefix("RESOLVED") == true)
            #expect(try await states(pool) == ["delivered", "delivered", "delivered"])
        }
    }

    @Test("the notification of an alert that still fires is repeated after the configured time, until it is acknowledged")
    func repeats() async throws {
        try await withDatabase { pool in
            let receivers = [receiver("hook", ReceiverPolicy(repeatAfter: RuleDuration(minutes: 60))), receiver("once")]
            let (clock, wire) = (ManualClock(), Wire())
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock)
            try await notifier.deliverDue()
            #expect(wire.count == 2)
            // The evaluator that fired is gone.
            try await expireLeases("evaluator", on: pool)
            // No traffic from here on: still firing.
            try await pool.execute("DELETE FROM attemptRollups WHERE minute >= \((Traffic.start + 35).timestamp)")
            for hour in 1...3 {
                clock.set((Traffic.start + 40 + hour * 61).timestamp)
                if hour == 3 {
                    let open = try #require(try await AlertStore.open(on: pool).first)
                    #expect(try await AlertStore.acknowledge(open.id, recording: .test("Ada", at: clock.now), on: pool) == .now)
                }
                try await evaluator.evaluate(through: clock.now)
                try await notifier.deliverDue()
            }
            #expect(wire.count == 4, "two repeats to one receiver, none after the acknowledgement")
            #expect(wire.bodies.allSatisfy { $0["status"] as? String == "firing" })
            let kinds = try await pool.query("SELECT kind FROM alertTransitions ORDER BY seq").map { try $0.decode(String.self) }
            #expect(kinds == ["firing", "repeated", "repeated", "acknowledged"])
        }
    }

    @Test("what a receiver refused comes again by itself once it takes messages, or at once when asked; five tries in all")
    func retried() async throws {
        try await withDatabase { pool in
            let receivers = [receiver("hook")]
            let wire = Wire { _, number in number == 2 || number > 3 ? Wire.response(200, "") : Wire.response(400, "no") }
            let clock = ManualClock((Traffic.start + 60).timestamp)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            try await fireMany(pool, 1, severity: "page", at: clock.now)
            try await notifier.deliverDue()
            #expect(try await states(pool) == ["deadLettered"])
            try await notifier.deliverDue()
            #expect(wire.count == 1, "what is dead-lettered is not retried")
            // Another message is taken: the first one waits again, is refused again (3), and comes back with the next that is taken.
            try await fireMany(pool, 1, severity: "page", at: clock.now)
            try await notifier.deliverDue()
            #expect(try await states(pool) == ["delivered", "pending"])
            try await notifier.deliverDue()
            #expect(try await states(pool) == ["deadLettered", "delivered"])
            #expect(try await NotificationHistory.retry("hook", recording: .test(at: clock.now), on: pool) == 1)
            try await notifier.deliverDue()
            #expect(try await states(pool) == ["delivered", "delivered"])
            #expect(try await NotificationHistory.retry("hook", recording: .test(at: clock.now), on: pool) == 0)
        }
    }

    @Test("a rejected end comes again while it is true, and not when the alert fires again")
    func rejectedEnd() async throws {
        try await withDatabase { pool in
            let receivers = [receiver("hook")]
            let wire = Wire { _, number in Wire.response(number == 2 ? 400 : 200, "") }
            let clock = ManualClock((Traffic.start + 60).timestamp)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            let id = try await TestNotification.fire(receivers: ["hook"], severity: .page, recording: .test("t", at: clock.now), on: pool)
            try await notifier.deliverDue()
            try await TestNotification.resolve(id, at: clock.now, on: pool)
            try await notifier.deliverDue()
            #expect(try await states(pool) == ["deadLettered", "delivered"])
            try await pool.execute("UPDATE alerts SET state = 'firing', endsAt = NULL, resolvedAt = NULL")
            #expect(try await NotificationHistory.retry("hook", recording: .test(at: clock.now), on: pool) == 0)
            try await pool.execute("UPDATE alerts SET state = 'resolved', endsAt = \(clock.now), resolvedAt = \(clock.now)")
            #expect(try await NotificationHistory.retry("hook", recording: .test(at: clock.now), on: pool) == 1)
        }
    }

    @Test("PagerDuty is notified of the end of an alert whose beginning a notifier may have sent before it died")
    func claimedByOther() async throws {
        try await withDatabase { pool in
            let receivers = [ReceiverConfiguration(PagerDutyReceiver(name: "pd", routingKey: Self.key, url: "http://pd.example.org"))]
            let wire = Wire { _, _ in Wire.response(202, "{}") }
            let clock = ManualClock((Traffic.start + 60).timestamp)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: wire.send)
            let id = try await TestNotification.fire(receivers: ["pd"], severity: .page, recording: .test("t", at: clock.now), on: pool)
            try await pool.execute("UPDATE notifications SET leaseEpoch = 7, leaseUntil = clock_timestamp()")
            try await TestNotification.resolve(id, at: clock.now, on: pool)
            try await notifier.deliverDue()
            #expect(wire.bodies.map { $0["event_action"] as? String } == ["resolve"])
        }
    }

    private func states(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query("SELECT state FROM notifications ORDER BY state").map { try $0.decode(String.self) }
    }

    @Test("alerts that are over for long leave with all that belongs to them; what fires stays")
    func retention() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let old = try await TestNotification.fire(receivers: ["hook"], severity: .page, recording: .test("t", at: clock.now), on: pool)
            try await TestNotification.resolve(old, at: clock.now, on: pool)
            try await pool.execute("INSERT INTO alertMarks VALUES (\(old), 'real', 'ada', \(clock.now))")
            // Withdrawn, and in force.
            for undoneAt in [clock.now, nil] {
                try await pool.execute(
                    """
                    INSERT INTO alertAcceptances (acceptanceId, alertId, rule, groupKey, groupLabels, author, reason, acceptedAt,
                                                  effectiveFrom, level, undoneAt, undoneBy, effectiveTo)
                    VALUES (gen_random_uuid(), \(old), 'r', 'all', '{}', 'ada', 'new app', \(clock.now), \(clock.now), '{}', \(undoneAt),
                            \(undoneAt.map { _ in "ada" }), \(undoneAt.map { $0 + .seconds(60) }))
                    """
                )
            }
            try await fireMany(pool, 1, severity: "page", at: clock.now)
            clock.advance(.seconds(401 * 86_400))
            let recent = try await TestNotification.fire(
                receivers: ["hook"],
                severity: .page,
                recording: .test("t", at: clock.now),
                on: pool
            )
            try await TestNotification.resolve(recent, at: clock.now, on: pool)
            #expect(try await AlertRetention.drop(now: clock.now, on: pool) == 1)
            #expect(try await AlertRetention.drop(now: clock.now, on: pool) == 0)
            #expect(try await AlertStore.alert(old, on: pool) == nil)
            #expect(try await AlertStore.alert(recent, on: pool) != nil)
            #expect(try await pool.query("SELECT 1 FROM alerts").count == 2)
            #expect(try await pool.query("SELECT 1 FROM notifications WHERE alertId = \(old)").isEmpty)
            #expect(try await pool.query("SELECT 1 FROM alertMarks").isEmpty)
            #expect(try await pool.query("SELECT undoneAt IS NULL FROM alertAcceptances").map { try $0.decode(Bool.self) } == [true])
        }
    }

    @Test(
        "what is wrong with a policy is said at its line",
        arguments: [
            ("per_minute: 0", "per_minute must be a number"), ("repeat: soon", "repeat is a duration"),
            ("quiet: { hours: \"22-7\", zone: Europe/Berlin }", "quiet.hours is a span"),
            ("quiet: { hours: \"22:00-07:00\", zone: CEST }", "quiet.zone is an IANA name"),
            ("quiet: { hours: \"22:00-07:00\" }", "'quiet.zone' is missing"),
        ]
    )
    func policyFaults(_ line: String, _ message: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("policy-\(UUID().uuidString).yml")
        defer { try? FileManager.default.removeItem(at: directory) }
        try "receivers:\n  - name: a\n    log: {}\n    \(line)\n".write(to: directory, atomically: true, encoding: .utf8)
        let findings = ReceiverFile.check(path: directory.path, environment: [:], rules: [])
        #expect(findings.count == 1 && findings[0].message.contains(message), "\(findings)")
    }
}
