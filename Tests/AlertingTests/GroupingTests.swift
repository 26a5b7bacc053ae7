import AlertRules
import Foundation
import HTTPClient
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("Grouped notifications of alerts that page nobody")
struct GroupingTests {
    /// Keeps every request and answers by its script.
    private final class Wire: Sendable {
        private let requests = Mutex<[OutboundRequest]>([])
        private let answer: @Sendable (Int) -> Int

        init(_ answer: @escaping @Sendable (Int) -> Int = { _ in 200 }) { self.answer = answer }

        @Sendable func send(_ request: OutboundRequest) async throws -> OutboundResponse {
            let number = requests.withLock {
                $0.append(request)
                return $0.count
            }
            return OutboundResponse(status: answer(number), headers: [], body: Array("ok".utf8), latency: .zero)
        }

        /// How many alerts each message has.
        var alertCounts: [Int] { bodies.map { ($0["alerts"] as? [Any])?.count ?? 0 } }
        var ids: [String] { requests.withLock { $0 }.compactMap { $0.headers.first { $0.name == "webhook-id" }?.value } }
        var bodies: [[String: Any]] {
            requests.withLock { $0 }.map { (try? JSONSerialization.jsonObject(with: Data($0.body))) as? [String: Any] ?? [:] }
        }
    }

    private static func receiver(_ grouping: NotificationGrouping? = NotificationGrouping()) -> ReceiverConfiguration {
        ReceiverConfiguration(
            WebhookReceiver(name: "hook", url: "http://hook.example.org/x", secret: nil),
            policy: ReceiverPolicy(grouping: grouping)
        )
    }

    private func withNotifier(
        _ receiver: ReceiverConfiguration = Self.receiver(),
        _ wire: Wire = Wire(),
        _ body: @Sendable (PostgresPool, Notifier, ManualClock, Wire) async throws -> Void
    ) async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            try await body(pool, Notifier.forTest(pool, receivers: [receiver], clock: clock, send: wire.send), clock, wire)
        }
    }

    /// An alert of its own, as an evaluator writes it.
    @discardableResult
    private func fire(_ pool: PostgresPool, _ severity: Severity, at now: Timestamp, as rule: String? = nil) async throws -> UUID {
        let id = try await TestNotification.fire(receivers: ["hook"], severity: severity, recording: .test("t", at: now), on: pool)
        // A second test notification would end the first.
        try await pool.execute("UPDATE alerts SET rule = \(rule ?? id.uuidString) WHERE alertId = \(id)")
        return id
    }

    @Test("tickets of a minute are one message; the next comes five minutes later; a page waits for none of that")
    func together() async throws {
        try await withNotifier { pool, notifier, clock, wire in
            for _ in 0..<2 { try await fire(pool, .ticket, at: clock.now) }
            clock.advance(.seconds(30))
            try await fire(pool, .info, at: clock.now)
            #expect(try await notifier.deliverDue() == 0)
            try await fire(pool, .page, at: clock.now)
            #expect(try await notifier.deliverDue() == 1, "a page goes at once")
            #expect(wire.alertCounts == [1])
            clock.advance(.seconds(29))
            #expect(try await notifier.deliverDue() == 0)
            clock.advance(.seconds(1))
            #expect(try await notifier.deliverDue() == 3)
            #expect(wire.alertCounts == [1, 3])
            let body = try #require(wire.bodies.last)
            #expect(body["status"] as? String == "firing" && body["groupKey"] as? String == "{}:{}")
            #expect(((body["x_pushwatch"] as? [String: Any])?["alerts"] as? [Any])?.count == 3)
            // A minute after that another one: it waits for the interval, and a page does not.
            clock.advance(.seconds(60))
            try await fire(pool, .ticket, at: clock.now)
            clock.advance(.seconds(120))
            try await fire(pool, .critical, at: clock.now)
            #expect(try await notifier.deliverDue() == 1)
            clock.advance(.seconds(119))
            #expect(try await notifier.deliverDue() == 0)
            clock.advance(.seconds(2))
            #expect(try await notifier.deliverDue() == 1)
            #expect(wire.alertCounts == [1, 3, 1, 1])
            let states = try await pool.query("SELECT DISTINCT state FROM notifications").map { try $0.decode(String.self) }
            #expect(states == ["delivered"])
            let messages = try await pool.query("SELECT count(DISTINCT messageId), count(messageId) FROM notificationAttempts")[0].decode(
                (Int, Int).self
            )
            #expect(messages == (1, 3))
        }
    }

    @Test(
        "what began and ended meanwhile is sent once, with what fires; a rejected notification is retried as a whole, under the same id"
    )
    func retried() async throws {
        try await withNotifier(Self.receiver(), Wire { $0 == 1 ? 503 : 200 }) { pool, notifier, clock, wire in
            let first = try await fire(pool, .ticket, at: clock.now)
            try await fire(pool, .ticket, at: clock.now)
            try await TestNotification.resolve(first, at: clock.now, on: pool)
            clock.advance(.seconds(60))
            #expect(try await notifier.deliverDue() == 2)
            #expect(try await notifier.deliverDue() == 0)
            clock.advance(.seconds(2))
            #expect(try await notifier.deliverDue() == 2, "no second wait, and no interval after a failure")
            #expect(wire.alertCounts == [2, 2] && Set(wire.ids).count == 1 && wire.ids.first?.hasPrefix("group-") == true)
            let alerts = try #require(wire.bodies.last?["alerts"] as? [[String: Any]])
            #expect(alerts.map { $0["status"] as? String } == ["firing", "resolved"])
            let states = try await pool.query("SELECT kind || ' ' || state FROM notifications ORDER BY 1").map {
                try $0.decode(String.self)
            }
            #expect(states == ["firing delivered", "firing superseded", "resolved delivered"])
            let results = try await pool.query("SELECT result, count(*) FROM notificationAttempts GROUP BY 1 ORDER BY 1").map {
                try $0.decode((String, Int).self)
            }
            #expect(results.map(\.0) == ["delivered", "retry"] && results.map(\.1) == [2, 2])
        }
    }

    @Test("what ends, joins or is silenced before a second attempt changes nothing about an attempted message; it is in the next one")
    func frozen() async throws {
        try await withNotifier(Self.receiver(), Wire { $0 == 1 ? 503 : 200 }) { pool, notifier, clock, wire in
            let ended = try await fire(pool, .ticket, at: clock.now)
            let silenced = try await fire(pool, .ticket, at: clock.now)
            clock.advance(.seconds(60))
            #expect(try await notifier.deliverDue() == 2)
            try await TestNotification.resolve(ended, at: clock.now, on: pool)
            try await pool.execute("UPDATE alerts SET silencedBy = gen_random_uuid() WHERE alertId = \(silenced)")
            try await fire(pool, .ticket, at: clock.now)
            clock.advance(.seconds(2))
            #expect(try await notifier.deliverDue() == 2)
            #expect(wire.alertCounts == [2, 2] && Set(wire.ids).count == 1, "\(wire.ids)")
            func alerts(_ body: [String: Any]?) -> [String] {
                let extras = (body?["x_pushwatch"] as? [String: Any])?["alerts"] as? [[String: Any]] ?? []
                let alerts = body?["alerts"] as? [[String: Any]] ?? []
                return zip(extras, alerts).map { "\($0["alertId"] ?? "") \($0["seq"] ?? "") \($1["status"] ?? "")" }.sorted()
            }
            #expect(alerts(wire.bodies[0]) == alerts(wire.bodies[1]), "the same id, the same message")
            clock.advance(.seconds(300))
            #expect(try await notifier.deliverDue() == 2)
            #expect(wire.alertCounts == [2, 2, 2] && Set(wire.ids).count == 2)
            #expect(alerts(wire.bodies[2]).contains { $0.hasPrefix("\(ended.uuidString.lowercased()) 2 resolved") })
            let left = try await pool.query("SELECT count(*) FROM notifications WHERE state = 'pending' OR messageId IS NOT NULL")
            #expect(try left[0].decode(Int.self) == 0)
        }
    }

    @Test("a notifier dies after sending: the next one sends the same message under the same id, whatever came meanwhile")
    func dies() async throws {
        try await withDatabase { pool in
            let (clock, wire) = (ManualClock(), Wire())
            let (reached, announce) = AsyncStream<Void>.makeStream()
            let dying = Notifier.forTest(pool, receivers: [Self.receiver()], clock: clock) { request in
                _ = try await wire.send(request)
                announce.yield()
                // It does nothing more: neither an answer nor a mark.
                for await _ in AsyncStream(Void.self, { _ in }) {}
                throw CancellationError()
            }
            let next = Notifier.forTest(pool, receivers: [Self.receiver()], clock: clock, send: wire.send)
            let first = try await fire(pool, .ticket, at: clock.now)
            try await fire(pool, .ticket, at: clock.now)
            clock.advance(.seconds(60))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await dying.deliverDue() }
                for await _ in reached { break }
                await #expect(throws: Never.self) {
                    try await TestNotification.resolve(first, at: clock.now, on: pool)
                    try await fire(pool, .ticket, at: clock.now)
                    try await expireLeases(on: pool)
                    try await pool.execute("UPDATE notifications SET leaseUntil = clock_timestamp() WHERE leaseUntil IS NOT NULL")
                    try await next.deliverDue()
                }
                group.cancelAll()
            }
            #expect(wire.alertCounts == [2, 2] && Set(wire.ids).count == 1, "\(wire.ids)")
        }
    }

    @Test("one that is given up leaves the message: the others are another message, with an id of its own")
    func leaves() async throws {
        try await withNotifier(Self.receiver(), Wire { $0 < 3 ? 503 : 200 }) { pool, notifier, clock, wire in
            let old = try await fire(pool, .ticket, at: clock.now)
            try await TestNotification.resolve(old, at: clock.now, on: pool)
            for _ in 0..<2 { try await fire(pool, .ticket, at: clock.now) }
            clock.advance(.seconds(60))
            #expect(try await notifier.deliverDue() == 3)
            clock.advance(.seconds(86_400))
            #expect(try await notifier.deliverDue() == 3)
            clock.advance(.seconds(600))
            #expect(try await notifier.deliverDue() == 2)
            #expect(wire.alertCounts == [3, 3, 2] && wire.ids[0] == wire.ids[1] && wire.ids[1] != wire.ids[2], "\(wire.ids)")
        }
    }

    @Test("a message about many counts once against the receiver's limit, so that tickets take no page's place")
    func limit() async throws {
        var receiver = Self.receiver()
        receiver.policy.perMinute = 2
        try await withNotifier(receiver) { pool, notifier, clock, wire in
            for _ in 0..<10 { try await fire(pool, .ticket, at: clock.now) }
            clock.advance(.seconds(60))
            #expect(try await notifier.deliverDue() == 10)
            try await fire(pool, .page, at: clock.now)
            #expect(try await notifier.deliverDue() == 1)
            try await fire(pool, .page, at: clock.now)
            #expect(try await notifier.deliverDue() == 0, "two a minute")
            #expect(wire.alertCounts == [10, 1])
        }
    }

    @Test("a receiver with a notification for each alert gets one for each; so does a test notification")
    func alone() async throws {
        try await withNotifier(Self.receiver(nil)) { pool, notifier, clock, wire in
            for _ in 0..<3 { try await fire(pool, .ticket, at: clock.now) }
            #expect(try await notifier.deliverDue() == 3)
            #expect(wire.alertCounts == [1, 1, 1])
        }
        try await withNotifier { pool, notifier, clock, wire in
            try await fire(pool, .ticket, at: clock.now, as: TestNotification.rule)
            #expect(try await notifier.deliverDue() == 1)
            #expect(wire.alertCounts == [1])
        }
        let key = String(repeating: "k", count: 32)
        let pager = ReceiverConfiguration(
            PagerDutyReceiver(name: "hook", routingKey: key, url: "http://pd.example.org"),
            policy: ReceiverPolicy(grouping: NotificationGrouping())
        )
        try await withNotifier(pager, Wire { _ in 202 }) { pool, notifier, clock, wire in
            for _ in 0..<2 { try await fire(pool, .ticket, at: clock.now) }
            #expect(try await notifier.deliverDue() == 2, "PagerDuty has an incident for each")
            #expect(Set(wire.bodies.compactMap { $0["dedup_key"] as? String }).count == 2)
        }
    }

    @Test("a silence that begins while tickets wait delays them; in quiet hours they wait for its end and come together")
    func withheld() async throws {
        let zone = try #require(TimeZone(identifier: "UTC"))
        let quiet = try #require(QuietHours("12:00-13:00", zone: zone))
        var receiver = Self.receiver()
        receiver.policy.quiet = quiet
        try await withNotifier(receiver) { pool, notifier, clock, wire in
            for _ in 0..<3 { try await fire(pool, .ticket, at: clock.now) }
            clock.advance(.seconds(1800))
            #expect(try await notifier.deliverDue() == 0)
            let silenced = try #require(try await AlertStore.open(on: pool).first)
            try await pool.execute("UPDATE alerts SET silencedBy = gen_random_uuid() WHERE alertId = \(silenced.id)")
            clock.advance(.seconds(1800))
            #expect(try await notifier.deliverDue() == 2)
            #expect(wire.alertCounts == [2])
        }
    }

    @Test("what waits for its group is not late; once a try has failed it is")
    func notLate() async throws {
        try await withNotifier(Self.receiver(), Wire { _ in 503 }) { pool, notifier, clock, _ in
            let began = clock.now
            try await fire(pool, .ticket, at: clock.now)
            clock.advance(.seconds(59))
            try await notifier.deliverDue()
            let grouped = try await NotificationStore.waiting(on: pool)
            #expect(grouped.count == 1 && grouped.oldest == nil)
            clock.advance(.seconds(1))
            try await notifier.deliverDue()
            let tried = try await NotificationStore.waiting(on: pool)
            #expect(tried.count == 1 && tried.oldest == began)
        }
    }
}
