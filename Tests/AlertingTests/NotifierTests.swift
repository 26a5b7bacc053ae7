import AlertRules
import Alerting
import Foundation
import HTTPClient
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@Suite("The notifier, over real HTTP")
struct NotifierTests {
    /// The states of the outbox in order of the messages.
    private func states(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query("SELECT kind || ' ' || state FROM notifications WHERE receiver = 'on-call' ORDER BY seq").map {
            try $0.decode(String.self)
        }
    }

    private func deliver(
        answers: [Hook.Answer],
        resolved: Bool = false,
        _ body: @Sendable @escaping (PostgresPool, Hook, Notifier, ManualClock) async throws -> Void
    ) async throws {
        try await withDatabase { pool in
            let hook = Hook(answers)
            let client = TestHTTP()
            try await withHook(hook) { url in
                let clock = ManualClock()
                let receivers = [ReceiverConfiguration.webhook("on-call", url: url)]
                try await fireOnce(pool, receivers: receivers, clock: clock, resolved: resolved)
                let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: client.send)
                try await body(pool, hook, notifier, clock)
            }
        }
    }

    @Test("a firing alert is delivered once, with the numbers of the window")
    func delivered() async throws {
        try await deliver(answers: []) { pool, hook, notifier, _ in
            #expect(try await notifier.deliverDue() == 1)
            #expect(try await notifier.deliverDue() == 0)
            let got = try #require(hook.got.first)
            #expect(hook.got.count == 1)
            #expect(got.status == "firing")
            let extra = try #require(got.json["x_pushwatch"] as? [String: Any])
            let observed = try #require((extra["evidence"] as? [String: Any])?["observed"] as? [String: Any])
            #expect(observed["attempts"] as? Int == 1500)
            #expect(observed["bad"] as? Int == 90)
            #expect(observed["from"] as? String == "2026-01-05T12:20:00Z")
            #expect(try await states(pool) == ["firing delivered"])
        }
    }

    @Test("500 is tried again after a growing wait, then delivered; every try is recorded")
    func retries() async throws {
        try await deliver(answers: [.init(status: 500, body: "sorry"), .init(status: 503)]) { pool, hook, notifier, clock in
            try await notifier.deliverDue()
            #expect(try await notifier.deliverDue() == 0)
            clock.advance(.seconds(1))
            #expect(try await notifier.deliverDue() == 1)
            clock.advance(.milliseconds(1900))
            #expect(try await notifier.deliverDue() == 0)
            clock.advance(.milliseconds(100))
            #expect(try await notifier.deliverDue() == 1)
            #expect(try await states(pool) == ["firing delivered"])
            let ids = Set(hook.got.compactMap { $0.headers["webhook-id"] })
            #expect(hook.got.count == 3 && ids.count == 1)
            let id = try #require(try await AlertStore.open(on: pool).first?.id)
            let records = try await NotificationHistory.notificationAttempts(of: id, on: pool)
            #expect(records.map(\.result) == ["retry", "retry", "delivered"])
            #expect(records.map(\.status) == [500, 503, 200])
            #expect(records.first?.responsePrefix == "sorry")
        }
    }

    @Test("429 waits as long as Retry-After asks")
    func retryAfter() async throws {
        try await deliver(answers: [.init(status: 429, headers: ["Retry-After": "90"])]) { pool, hook, notifier, clock in
            try await notifier.deliverDue()
            clock.advance(.seconds(89))
            #expect(try await notifier.deliverDue() == 0)
            clock.advance(.seconds(1))
            #expect(try await notifier.deliverDue() == 1)
            #expect(try await states(pool) == ["firing delivered"])
        }
    }

    @Test("400 is dead-lettered: not tried again, and it says why")
    func deadLettered() async throws {
        try await deliver(answers: [.init(status: 400, body: "no such room")]) { pool, hook, notifier, clock in
            try await notifier.deliverDue()
            clock.advance(.seconds(3600))
            #expect(try await notifier.deliverDue() == 0)
            #expect(hook.got.count == 1)
            #expect(try await states(pool) == ["firing deadLettered"])
            let id = try #require(try await AlertStore.open(on: pool).first?.id)
            let notification = try #require(try await NotificationHistory.notifications(of: id, on: pool).first)
            #expect(notification.lastError == "HTTP 400")
        }
    }

    @Test("a receiver that cannot be reached is tried again")
    func unreachable() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("on-call", url: "http://127.0.0.1:1/hook")]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { _ in
                throw OutboundFailure(.notWritten, .connect, detail: "connection refused")
            }
            try await notifier.deliverDue()
            #expect(try await states(pool) == ["firing pending"])
            let id = try #require(try await AlertStore.open(on: pool).first?.id)
            let record = try #require(try await NotificationHistory.notificationAttempts(of: id, on: pool).first)
            #expect(record.status == nil && record.error == "connection refused (ConnectFailed)")
        }
    }

    @Test("firing is delivered before resolved")
    func order() async throws {
        try await deliver(answers: []) { pool, hook, notifier, clock in
            try await notifier.deliverDue()
            try await resolve(pool, clock)
            try await notifier.deliverDue()
            #expect(hook.got.map(\.status) == ["firing", "resolved"])
            let alert = try #require((hook.got.last?.json["alerts"] as? [[String: Any]])?.first)
            #expect(alert["endsAt"] as? String == "2026-01-05T12:35:00Z")
            #expect((hook.got.last?.json["x_pushwatch"] as? [String: Any])?["supersedesFiring"] as? Bool == false)
        }
    }

    @Test("an alert that ended undelivered becomes one message, and firing never follows it")
    func superseded() async throws {
        try await deliver(answers: [.init(status: 500)], resolved: false) { pool, hook, notifier, clock in
            try await notifier.deliverDue()
            try await resolve(pool, clock)
            try await notifier.deliverDue()
            clock.advance(.seconds(3600))
            #expect(try await notifier.deliverDue() == 0)
            #expect(hook.got.map(\.status) == ["firing", "resolved"])
            #expect((hook.got.last?.json["x_pushwatch"] as? [String: Any])?["supersedesFiring"] as? Bool == true)
            #expect(try await states(pool) == ["firing superseded", "resolved delivered"])
        }
    }

    private func resolve(_ pool: PostgresPool, _ clock: ManualClock) async throws {
        let evaluator = RuleEvaluator.forTest(pool, clock: clock)
        clock.set((Traffic.start + 60).timestamp + .seconds(60))
        // The evaluator of the set-up still holds the lease.
        try await expireLeases("evaluator", on: pool)
        try await evaluator.evaluate(minutes: 60)
    }

    @Test("receivers that hang fill their own places only, however many they are")
    func fairness() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let hanging = (1...5).map { ReceiverConfiguration.webhook("hanging-\($0)", url: "http://hanging-\($0)/") }
            let receivers = hanging + [.webhook("good", url: "http://good/")]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            // Five more alerts that wait for each of them, all older than the one for the good one.
            for receiver in hanging {
                for _ in 0..<5 { try await copyAlert(pool, receiver: receiver.name) }
            }
            let tried = Mutex<[String: Int]>([:])
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                tried.withLock { $0[request.url, default: 0] += 1 }
                throw OutboundFailure(.unanswered, .timeout, detail: "no answer")
            }
            try await notifier.deliverDue()
            let places = Dictionary(uniqueKeysWithValues: hanging.map { ("http://\($0.name)/", 4) })
            #expect(tried.withLock { $0 } == places.merging(["http://good/": 1]) { $1 })
        }
    }

    @Test("a receiver that accepts and never answers delays no other on its host and port, and no page is sent twice")
    func apart() async throws {
        try await withDatabase { pool in
            let hook = Hook()
            try await withHook(hook) { url in
                let clock = ManualClock()
                let healthy = (1...4).map { ReceiverConfiguration.webhook("healthy-\($0)", url: url) }
                let receivers = healthy + [.webhook("silent", url: url.replacing("/hook", with: "/silent"))]
                try await fireOnce(pool, receivers: receivers, clock: clock)
                let client = TestHTTP()
                let isSilentOver = Mutex(false)
                let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                    guard request.url == url else {
                        var patient = request
                        patient.timeout = .seconds(50)
                        defer { isSilentOver.withLock { $0 = true } }
                        return try await client.send(patient)
                    }
                    // The others are sent while it has not answered.
                    for await _ in hook.silentRequest {}
                    return try await client.send(request)
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await notifier.run() }
                    for await _ in hook.silentRequest {}
                    var messages = hook.messages.makeAsyncIterator()
                    for _ in healthy { _ = await messages.next() }
                    #expect(!isSilentOver.withLock { $0 }, "they were sent after it")
                    group.cancelAll()
                    try await group.waitForAll()
                }
                #expect(hook.got.count == healthy.count)
            }
        }
    }

    private func copyAlert(_ pool: PostgresPool, receiver: String) async throws {
        let id = UUID()
        try await pool.execute(
            """
            INSERT INTO alerts
            SELECT (jsonb_populate_record(e, jsonb_build_object('alertid', \(id)::uuid, 'groupkey', \(id)::uuid))).*
            FROM alerts e WHERE groupKey = 'provider=fcm'
            """
        )
        try await pool.execute(
            """
            INSERT INTO alertTransitions
            SELECT (jsonb_populate_record(t, jsonb_build_object('alertid', \(id)::uuid))).*
            FROM alertTransitions t JOIN alerts e USING (alertId) WHERE e.groupKey = 'provider=fcm'
            """
        )
        try await pool.execute(
            """
            INSERT INTO notifications (alertId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            VALUES (\(id), \(receiver), 1, 'firing', 'pending', 'epoch', 'epoch')
            """
        )
    }

    @Test("a notifier that was replaced while it was sending changes nothing; the new one sends the same message again")
    func fencing() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("on-call", url: "http://receiver/hook")]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let sent = Mutex<[String]>([])
            let record: @Sendable (OutboundRequest) -> OutboundResponse = { request in
                sent.withLock { $0.append(request.headers.first { $0.name == "webhook-id" }?.value ?? "") }
                return OutboundResponse(status: 200)
            }
            let second = Notifier.forTest(pool, receivers: receivers, clock: clock) { record($0) }
            let first = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                // While the first is sending, its lease and its claim run out and the second one works.
                try await expireLeases("notifier", on: pool)
                try await pool.execute("UPDATE notifications SET leaseUntil = clock_timestamp()")
                try await second.deliverDue()
                return record(request)
            }
            try await first.deliverDue()
            #expect(sent.withLock { $0.count } == 2)
            #expect(sent.withLock { Set($0).count } == 1)
            let rows = try await pool.query("SELECT count(*) FROM notificationAttempts")
            #expect(try rows[0].decode(Int.self) == 1)
            #expect(try await states(pool) == ["firing delivered"])
        }
    }
}
