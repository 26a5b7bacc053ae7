import AlertRules
import Audit
import Foundation
import HTTPClient
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("An alert that fires again soon after its end")
struct ReopeningTests {
    /// Fires at minute 34, resolves at 44, fires again at 74 and resolves at 84.
    private func evaluate(
        _ pool: PostgresPool,
        _ receivers: [ReceiverConfiguration],
        _ clock: ManualClock,
        after: (Int) async throws -> Void
    ) async throws {
        let traffic = try await Traffic(pool)
        for (minutes, bad) in [(0..<20, Int64(0)), (20..<35, 50), (35..<60, 0), (60..<75, 50), (75..<100, 0)] {
            try await traffic.add(minutes, attempts: 100, bad: bad)
        }
        let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock)
        for minute in [20, 40, 42, 50, 75, 82, 100] {
            clock.set((Traffic.start + minute).timestamp + .seconds(60))
            try await evaluator.evaluate(minutes: minute)
            #expect(evaluator.faults == [:])
            try await after(minute)
        }
        #expect(
            try await Recorded.transitions(pool).filter { !["repeated", "acknowledged", "escalated"].contains($0.kind) }.map(\.description)
                // Where the receiver does not answer, there is a built-in alert, too.
                .filter { $0.hasPrefix("provider=") } == [
                    "provider=fcm firing @34", "provider=fcm resolved @44", "provider=fcm reopened @74", "provider=fcm resolved @84",
                ]
        )
        #expect(try await pool.query("SELECT count(*) FROM alerts WHERE labels ->> 'provider' = 'fcm'")[0].decode(Int.self) == 1)
    }

    private func kinds(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query("SELECT kind || ' ' || state FROM notifications ORDER BY seq").map { try $0.decode(String.self) }
    }

    @Test("who was notified of its end gets one update that it fires again, and is notified of its end at last")
    func update() async throws {
        try await withDatabase { pool in
            let hook = Hook([])
            let client = TestHTTP()
            try await withHook(hook) { url in
                let clock = ManualClock()
                let receivers = [ReceiverConfiguration.webhook("on-call", url: url)]
                let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: client.send)
                try await evaluate(pool, receivers, clock) { _ in try await notifier.deliverDue() }
                #expect(hook.got.map(\.status) == ["firing", "resolved", "firing", "resolved"])
                #expect(try await kinds(pool) == ["firing delivered", "resolved delivered", "reopened delivered", "resolved delivered"])
            }
        }
    }

    @Test("who was not notified of its end yet is not notified of it any more, nor that it goes on")
    func unnoticed() async throws {
        try await withDatabase { pool in
            let hook = Hook([])
            let client = TestHTTP()
            try await withHook(hook) { url in
                let clock = ManualClock()
                let receivers = [ReceiverConfiguration.webhook("on-call", url: url)]
                let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: client.send)
                try await evaluate(pool, receivers, clock) { minute in
                    // Nothing is sent between its end and its beginning again.
                    if minute != 50 { try await notifier.deliverDue() }
                }
                #expect(hook.got.map(\.status) == ["firing", "resolved"])
                #expect(try await kinds(pool) == ["firing delivered", "resolved superseded", "resolved delivered"])
            }
        }
    }

    private func silence(_ pool: PostgresPool, _ minutes: Range<Int>) async throws {
        let silence = AlertSilence(
            matchers: [SilenceMatcher(name: "alertname", value: "*")],
            startsAt: (Traffic.start + minutes.lowerBound).timestamp,
            endsAt: (Traffic.start + minutes.upperBound).timestamp,
            author: "ada",
            reason: "planned work",
            createdAt: Traffic.start.timestamp
        )
        try await SilenceStore.insert(silence, recording: .test(), on: pool)
    }

    @Test("who was notified of its end is notified that it fires again when the silence ends under which it was reopened")
    func silenced() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("on-call", url: "http://on-call")]
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { _ in OutboundResponse(status: 200) }
            try await evaluate(pool, receivers, clock) { minute in
                try await notifier.deliverDue()
                if minute == 50 { try await silence(pool, 60..<80) }
                if minute == 75 { #expect(try await kinds(pool) == ["firing delivered", "resolved delivered"]) }
            }
            #expect(try await kinds(pool) == ["firing delivered", "resolved delivered", "reopened delivered", "resolved delivered"])
        }
    }

    @Test("who was never notified of it, because it ended under a silence, is notified when it fires again; repeats and the rest follow")
    func unnotified() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let hook = WebhookReceiver(name: "on-call", url: "http://on-call", secret: nil)
            let receivers = [ReceiverConfiguration(hook, policy: ReceiverPolicy(repeatAfter: RuleDuration(minutes: 5)))]
            let bodies = Mutex<[[UInt8]]>([])
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                bodies.withLock { $0.append(request.body) }
                return OutboundResponse(status: 200)
            }
            try await evaluate(pool, receivers, clock) { minute in
                if minute == 40 { return try await silence(pool, 41..<60) }
                try await notifier.deliverDue()
                if minute == 50 { #expect(try await kinds(pool) == ["firing superseded"]) }
                if minute == 75 {
                    let current = try await ResendableNotifications.current(
                        receivers: ["on-call"],
                        endedSince: clock.now,
                        externalURL: "https://push.example.org",
                        on: pool
                    )
                    #expect(current.map(\.kind) == [.firing])
                }
                if minute == 82 {
                    let alert = try #require(try await AlertStore.open(on: pool).first)
                    #expect(try await AlertStore.acknowledge(alert.id, recording: .test("Ada", at: clock.now), on: pool) == .now)
                    try await notifier.deliverDue()
                }
            }
            #expect(
                try await kinds(pool) == [
                    "firing superseded", "reopened delivered", "repeated delivered", "acknowledged superseded", "resolved delivered",
                ]
            )
            let last = try #require(bodies.withLock { $0.last })
            let body = try #require(try JSONSerialization.jsonObject(with: Data(last)) as? [String: Any])
            #expect((body["x_pushwatch"] as? [String: Any])?["supersedesFiring"] as? Bool == false)
            // It was notified by now, so that it fires once more is an update.
            let alert = try #require(try await AlertStore.resolved(limit: 1, on: pool).first)
            let lease = AlertLease(name: "t", holder: "t", epoch: 1)
            let now = clock.now
            let events = try await pool.withTransaction { transaction in
                let writer = AlertWriter(transaction: transaction, lease: lease, now: now)
                try await writer.reopen(alert, minute: Minute(now), receivers: ["on-call"])
                let claim = NotificationClaim(
                    lease: lease,
                    receivers: ReceiverSet(receivers: receivers),
                    perReceiver: 1,
                    duration: .seconds(60),
                    externalURL: "https://push.example.org",
                    now: now
                )
                return try await claim.single(in: transaction).map(\.message.event)
            }
            #expect(events == [.reopened])
        }
    }

    @Test("it waits to be acknowledged again, and its steps of escalation are taken again and page those who were paged before")
    func escalated() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let onCall = ReceiverConfiguration.webhook("on-call", url: "http://on-call")
            let chief = ReceiverConfiguration(PagerDutyReceiver(name: "chief", routingKey: String(repeating: "k", count: 32)))
            let policy = EscalationPolicy(
                unconfirmedAfter: .seconds(30),
                unacknowledgedAfter: .seconds(60),
                steps: [.init(receivers: ["chief"])]
            )
            let incident = Mutex<[String]>([])
            let notifier = Notifier(
                pool: pool,
                receivers: ReceiverRegistry(ReceiverSet(receivers: [onCall, chief], escalation: policy), logger: .silent),
                configuration: NotifierConfiguration(externalURL: "https://push.example.org", leaseDuration: .seconds(60)),
                logger: .silent,
                now: { clock.now },
                jitter: { 1 },
                send: { request in
                    guard request.url.hasPrefix("https://events.pagerduty.com/") else { return OutboundResponse(status: 200) }
                    let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
                    let action = body?["event_action"] as? String ?? "change"
                    incident.withLock { $0.append(action) }
                    return OutboundResponse(status: 202)
                }
            )
            func acknowledge(_ author: String) async throws {
                let open = try await AlertStore.open(on: pool)
                guard let alert = open.first else { return #expect(Bool(false), "no alert is firing") }
                #expect(alert.acknowledgedAt == nil)
                #expect(try await AlertStore.acknowledge(alert.id, recording: .test(author, at: clock.now), on: pool) == .now)
            }
            try await evaluate(pool, [onCall], clock) { minute in
                try await notifier.deliverDue()
                guard minute == 40 || minute == 75 else { return }
                if minute == 75 { #expect(incident.withLock { $0.last } == "change", "the reopening itself pages nobody") }
                clock.advance(.seconds(60))
                try await notifier.deliverDue()
                #expect(incident.withLock { $0.last } == "trigger")
                try await acknowledge(minute == 40 ? "Ada" : "Ben")
                try await notifier.deliverDue()
            }
            #expect(
                incident.withLock { $0 } == ["trigger", "acknowledge", "resolve", "change", "trigger", "acknowledge", "resolve"]
            )
            let alert = try #require(try await AlertStore.resolved(limit: 1, on: pool).first)
            #expect(alert.acknowledgedBy == "Ben")
            #expect(try await AuditLog(pool).latest(10).filter { $0.action == .acknowledgeAlert }.map(\.actor) == ["Ben", "Ada"])
            #expect(try await EscalationStore.history(of: alert.id, on: pool).map(\.receivers) == [["chief"], ["chief"]])
            #expect(
                try await pool.query("SELECT kind || ' ' || state FROM notifications WHERE receiver = 'on-call' ORDER BY seq").map {
                    try $0.decode(String.self)
                } == [
                    "firing delivered", "acknowledged superseded", "resolved delivered", "reopened delivered", "acknowledged superseded",
                    "resolved delivered",
                ]
            )
        }
    }

    @Test("it stays acknowledged, and is not escalated, where nobody was notified of its end")
    func acknowledged() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let onCall = ReceiverConfiguration.webhook("on-call", url: "http://on-call")
            let chief = ReceiverConfiguration.webhook("chief", url: "http://chief")
            let policy = EscalationPolicy(
                unconfirmedAfter: .seconds(30),
                unacknowledgedAfter: .seconds(60),
                steps: [.init(receivers: ["chief"])]
            )
            let notifier = Notifier(
                pool: pool,
                receivers: ReceiverRegistry(ReceiverSet(receivers: [onCall, chief], escalation: policy), logger: .silent),
                configuration: NotifierConfiguration(externalURL: "https://push.example.org", leaseDuration: .seconds(60)),
                logger: .silent,
                now: { clock.now },
                jitter: { 1 },
                send: { _ in OutboundResponse(status: 200) }
            )
            try await evaluate(pool, [onCall], clock) { minute in
                // Nothing is sent between its end and its beginning again.
                guard minute != 50 else { return }
                if minute == 75 {
                    let alert = try #require(try await AlertStore.open(on: pool).first)
                    #expect(alert.acknowledgedBy == "Ada" && alert.acknowledgedAt != nil)
                    clock.advance(.seconds(300))
                }
                try await notifier.deliverDue()
                guard minute == 40 else { return }
                let alert = try #require(try await AlertStore.open(on: pool).first)
                #expect(try await AlertStore.acknowledge(alert.id, recording: .test("Ada", at: clock.now), on: pool) == .now)
            }
            let receivers = try await pool.query("SELECT DISTINCT receiver FROM notifications").map { try $0.decode(String.self) }
            #expect(receivers == ["on-call"])
        }
    }

    @Test("who may have been notified of its end, by an attempt without an answer, is notified that it fires again")
    func unanswered() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("on-call", url: "http://on-call")]
            let answers = Mutex(true)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { _ in
                guard answers.withLock({ $0 }) else { throw OutboundFailure(.unanswered, .timeout, detail: "no answer") }
                return OutboundResponse(status: 200)
            }
            try await evaluate(pool, receivers, clock) { minute in
                answers.withLock { $0 = minute != 50 }
                try await notifier.deliverDue()
            }
            #expect(try await kinds(pool) == ["firing delivered", "resolved superseded", "reopened delivered", "resolved delivered"])
        }
    }

    @Test("PagerDuty gets a change event, which opens no incident; text says that it fires again")
    func receivers() throws {
        var message = Messages.firing
        message.event = .reopened
        let receiver = PagerDutyReceiver(name: "pd", routingKey: String(repeating: "k", count: 32))
        guard case .request(let request) = try receiver.action(for: message, now: Traffic.start.timestamp) else {
            Issue.record("no request")
            return
        }
        #expect(request.url == "https://events.pagerduty.com/v2/change/enqueue")
        let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
        #expect(body["event_action"] == nil && body["dedup_key"] == nil && body["routing_key"] != nil)
        let payload = try #require(body["payload"] as? [String: Any])
        #expect((payload["summary"] as? String)?.hasPrefix("FIRING AGAIN: ") == true)
        #expect(receiver.events.contains(.reopened))
    }
}
