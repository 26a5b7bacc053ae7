import AlertRules
import Foundation
import HTTPClient
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("One incident is one alert, whichever process or connection fails")
struct OneIncidentTests {
    /// PagerDuty as its contract says: a trigger with the key of an open incident adds to it, one after its end opens another.
    final class Pager: Sendable {
        private let incidents = Mutex<[(key: String, isOpen: Bool)]>([])
        private let actions = Mutex<[String]>([])

        var log: [String] { actions.withLock { $0 } }
        var states: [Bool] { incidents.withLock { $0.map(\.isOpen) } }

        @Sendable func take(_ request: OutboundRequest) -> OutboundResponse {
            let got = Hook.Got(headers: [:], body: request.body)
            let answer = Contracts.pagerDuty(got)
            let (key, action) = (got.json["dedup_key"] as? String ?? "", got.json["event_action"] as? String ?? "")
            actions.withLock { $0.append(action) }
            incidents.withLock { incidents in
                let open = incidents.firstIndex { $0.key == key && $0.isOpen }
                switch action {
                case "trigger" where open == nil: incidents.append((key, true))
                case "resolve": open.map { incidents[$0].isOpen = false }
                default: break
                }
            }
            return OutboundResponse(status: answer.status, body: Array(answer.body.utf8))
        }
    }

    private let pagerReceiver = ReceiverConfiguration(
        PagerDutyReceiver(name: "pager", routingKey: String(repeating: "k", count: 32), url: "http://pager/")
    )

    private func expireAll(_ pool: PostgresPool) async throws {
        try await expireLeases(on: pool)
        try await pool.execute("UPDATE notifications SET leaseUntil = clock_timestamp() WHERE leaseUntil IS NOT NULL")
    }

    @Test(
        "a notifier dies between the commit and the sending, or between the sending and its mark: PagerDuty shows one incident, resolved",
        arguments: [false, true]
    )
    func dies(afterSending: Bool) async throws {
        try await withDatabase { pool in
            let (clock, pager) = (ManualClock(), Pager())
            try await fireOnce(pool, receivers: [pagerReceiver], clock: clock)
            let (reached, announce) = AsyncStream<Void>.makeStream()
            let dying = Notifier.forTest(pool, receivers: [pagerReceiver], clock: clock) { request in
                if afterSending { _ = pager.take(request) }
                announce.yield()
                // It does nothing more: neither an answer nor a mark.
                for await _ in AsyncStream(Void.self, { _ in }) {}
                throw CancellationError()
            }
            let next = Notifier.forTest(pool, receivers: [pagerReceiver], clock: clock, send: pager.take)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await dying.deliverDue() }
                for await _ in reached { break }
                await #expect(throws: Never.self) {
                    try await expireAll(pool)
                    try await next.deliverDue()
                }
                group.cancelAll()
            }
            #expect(pager.log == Array(repeating: "trigger", count: afterSending ? 2 : 1))
            #expect(pager.states == [true])
            try await expireAll(pool)
            clock.set((Traffic.start + 60).timestamp + .seconds(60))
            try await RuleEvaluator.forTest(pool, receivers: [pagerReceiver], clock: clock).evaluate(minutes: 60)
            try await next.deliverDue()
            #expect(pager.log.last == "resolve" && pager.log.count { $0 == "resolve" } == 1)
            #expect(pager.states == [false])
        }
    }

    @Test(
        "the answer is lost, whether the event was taken or not: it is tried again under the same key, and PagerDuty shows one incident",
        arguments: [
            (OutboundFailure.Phase.notWritten, OutboundFailure.Kind.dns), (.notWritten, .tls), (.unanswered, .tls), (.unanswered, .timeout),
            (.unanswered, .reset),
        ]
    )
    func answerLost(_ phase: OutboundFailure.Phase, _ kind: OutboundFailure.Kind) async throws {
        try await withDatabase { pool in
            let (clock, pager) = (ManualClock(), Pager())
            try await fireOnce(pool, receivers: [pagerReceiver], clock: clock)
            let tries = Mutex(0)
            let notifier = Notifier.forTest(pool, receivers: [pagerReceiver], clock: clock) { request in
                guard
                    tries.withLock({
                        $0 += 1; return $0
                    }) < 3
                else { return pager.take(request) }
                if phase == .unanswered { _ = pager.take(request) }
                throw OutboundFailure(phase, kind, detail: "for a test")
            }
            for wait in [0, 1, 2] {
                clock.advance(.seconds(wait))
                try await notifier.deliverDue()
            }
            #expect(pager.log == Array(repeating: "trigger", count: phase == .unanswered ? 3 : 1) && pager.states == [true])
            let id = try #require(try await AlertStore.open(on: pool).first?.id)
            #expect(try await NotificationHistory.notificationAttempts(of: id, on: pool).map(\.result) == ["retry", "retry", "delivered"])
        }
    }

    @Test("the evaluator is away for two hours: what came and went pages nobody, what lasts is one page with its true beginning")
    func away() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<60, attempts: 100, bad: 10)
            try await traffic.add(60..<150, attempts: 100, bad: 1)
            try await traffic.add(0..<40, attempts: 100, bad: 1, provider: "apns")
            try await traffic.add(40..<150, attempts: 100, bad: 10, provider: "apns")
            let chat = Mutex<[String]>([])
            let pager = Pager()
            let receivers = [pagerReceiver, ReceiverConfiguration.webhook("chat", url: "http://chat/")]
            let clock = ManualClock((Traffic.start + 11).timestamp)
            let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock)
            try await evaluator.evaluate(minutes: 10)
            clock.set((Traffic.start + 151).timestamp)
            try await evaluator.evaluate(minutes: 150)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                if request.url.hasPrefix("http://pager") { return pager.take(request) }
                let json = Hook.Got(headers: [:], body: request.body).json
                let labels = json["commonLabels"] as? [String: Any]
                chat.withLock { $0.append("\(labels?["provider"] ?? "?") \(json["status"] ?? "?")") }
                return OutboundResponse(status: 200)
            }
            for _ in 0..<4 { try await notifier.deliverDue() }
            #expect(chat.withLock { $0.sorted() } == ["apns firing", "fcm resolved"])
            #expect(pager.log == ["trigger"] && pager.states == [true])
            let open = try #require(try await AlertStore.open(on: pool).first)
            #expect(open.group.description == "provider=apns")
            #expect(open.startsAt == (Traffic.start + 40).timestamp && open.firedAt == (Traffic.start + 55).timestamp)
            // It would have been found a minute after it fired.
            #expect(open.detectedLateBySeconds == 95 * 60)
        }
    }
}
