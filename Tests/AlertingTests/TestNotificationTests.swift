import AlertRules
import Alerting
import HTTPClient
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@Suite("Test notifications")
struct TestNotificationTests {
    @Test("goes through every receiver, marked, ends, and says how long each took; one that was left open is ended by the next")
    func testNotification() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("a", url: "http://a/"), .webhook("b", url: "http://b/"), .log]
            let bodies = Mutex<[String]>([])
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                bodies.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
                return OutboundResponse(status: request.url == "http://b/" ? 400 : 200)
            }
            let names = receivers.map(\.name)
            let left = try await TestNotification.fire(receivers: names, severity: .page, recording: .test("jo", at: clock.now), on: pool)
            let id = try await TestNotification.fire(receivers: names, severity: .info, recording: .test("jo", at: clock.now), on: pool)
            #expect(try await AlertStore.alert(left, on: pool)?.state == .resolved)
            clock.advance(.milliseconds(250))
            try await notifier.deliverDue()
            try await TestNotification.resolve(id, at: clock.now, on: pool)
            clock.advance(.milliseconds(100))
            try await notifier.deliverDue()
            let results = try await TestNotification.results(of: id, on: pool)
            #expect(
                results.map { "\($0.receiver) \($0.kind) \($0.state) \($0.latencyMs ?? -1)" } == [
                    "a firing delivered 250", "a resolved delivered 100", "b firing deadLettered 250", "b resolved deadLettered 100",
                    "log firing delivered 250", "log resolved delivered 100",
                ]
            )
            #expect(
                bodies.withLock { $0.allSatisfy { $0.contains("TEST: nothing is wrong") && $0.contains(#""test_notification":"true""#) } }
            )
            #expect(try await AlertStore.open(on: pool).isEmpty)
        }
    }

    @Test("an interrupted test: who was notified is notified of its end; what had not left is withdrawn")
    func withdrawn() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("a", url: "http://a/"), .webhook("b", url: "http://b/")]
            let isDown = Mutex(false)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { _ in
                OutboundResponse(status: isDown.withLock { $0 } ? 503 : 200)
            }
            let names = receivers.map(\.name) + ["nobody"]
            let id = try await TestNotification.fire(receivers: names, severity: .page, recording: .test("jo", at: clock.now), on: pool)
            try await notifier.deliverDue()
            func states() async throws -> [String] {
                try await TestNotification.results(of: id, on: pool).map { "\($0.receiver) \($0.kind) \($0.state)" }
            }
            try await TestNotification.withdraw(id, at: clock.now, on: pool)
            try await TestNotification.resolve(id, at: clock.now, on: pool)
            #expect(
                try await states() == [
                    "a firing delivered", "a resolved pending", "b firing delivered", "b resolved pending", "nobody firing superseded",
                ]
            )
            // One that does not take it at once is tried again.
            isDown.withLock { $0 = true }
            try await notifier.deliverDue()
            try await TestNotification.withdraw(id, at: clock.now, on: pool)
            isDown.withLock { $0 = false }
            clock.advance(.seconds(600))
            try await notifier.deliverDue()
            #expect(try await states().filter { $0.hasSuffix("resolved delivered") }.count == 2)
        }
    }
}
