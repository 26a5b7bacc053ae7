import Postgres
import Providers
import PushContract
import ServiceLifecycle
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

/// Answers APNs at once, and FCM only when it is released.
private final class SilentFCM: PushProvider {
    let credential: String
    private let gate = Gate()

    init(credential: String) { self.credential = credential }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        if target.provider == .fcm { await gate.wait() }
        return .accepted("m")
    }

    func release() { gate.open() }
}

@Suite("One provider, app or class does not delay another")
struct IsolationTests {
    private func items(_ count: Int, _ provider: String, id: String? = nil, app: String = "a", members: String = "") -> String {
        "["
            + (0..<count).map {
                let token = provider == "apns" ? SendingBench.token($0) : "fcm-\($0)"
                return
                    #"{"sendId": "\#(id ?? provider)\#($0)", "token": "\#(token)", "provider": "\#(provider)", "app": "\#(app)", "title": "t"\#(members)}"#
            }.joined(separator: ",") + "]"
    }

    @Test("while one provider accepts connections and never answers, all sends of the other go out")
    func silentProvider() async throws {
        try await SendingBench.with { bench in
            let fcm = SilentFCM(credential: "firebase")
            let apns = SilentFCM(credential: "team")
            let dispatcher = bench.dispatcher({ provider, _, _ in provider == .fcm ? fcm : apns }) {
                $0.capacity = 40
                $0.drainLimit = .milliseconds(1)
            }
            try await bench.enqueue(items(300, "fcm"))
            let group = ServiceGroup(configuration: .init(services: [dispatcher], logger: .silent))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                defer { fcm.release() }
                tasks.addTask { try await group.run() }
                // FCM has taken what it can get.
                try await eventually("they are leased") { try await bench.count("pushLeasedDeliveries") >= 16 }
                try await bench.enqueue(items(100, "apns"))
                try await bench.enqueue(items(20, "apns", id: "page", app: "b", members: #", "critical": true"#))
                try await eventually("all of the other are sent") { try await bench.count("pushFinished") >= 120 }
                let leased = try await bench.count("pushLeasedDeliveries")
                #expect(leased <= 40, "\(leased) places")
                #expect(try await bench.count("pushFinished f JOIN pushQueues q USING (queue) WHERE q.provider = 'fcm'") == 0)
                fcm.release()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
    }

    @Test("what waits for a provider that answers slowly is claimed in small parts at intervals, but for critical deliveries")
    func slowProvider() async throws {
        try await SendingBench.with { bench in
            let slow = ScriptedProvider()
            slow.answer(.accepted("m", latency: .seconds(2)))
            let dispatcher = bench.dispatcher { provider, _, _ in
                if provider == .fcm { slow } else { SilentFCM(credential: "team") }
            }
            try await bench.enqueue(items(100, "fcm"))
            try await bench.enqueue(items(5, "apns"))
            var queueClaims = QueueClaims(policy: QueueScheduler.Policy())
            let start = ContinuousClock.now
            let first = try await dispatcher.claimed(&queueClaims, now: start)
            #expect(first.count == 55, "nothing is known of it yet")
            await dispatcher.working { for delivery in first { await dispatcher.handle(StartedDelivery(delivery)) } }
            try await bench.enqueue(items(20, "fcm", id: "page", members: #", "critical": true"#))
            var claimed: [Int] = []
            for milliseconds in [10, 90, 110] {
                claimed.append(try await dispatcher.claimed(&queueClaims, now: start + .milliseconds(milliseconds)).count)
            }
            #expect(claimed == [30, 0, 10])
        }
    }

    @Test("ordinary sends of an app overtake its bulk sends, and a send to many devices is bulk by itself")
    func bulk() async throws {
        try await SendingBench.with { bench in
            let sender = ScriptedProvider()
            try await bench.enqueue(items(1500, "fcm", members: #", "class": "bulk""#))
            try await bench.enqueue(items(5, "apns"))
            try await bench.enqueue(items(5, "fcm", id: "urgent"))
            try await bench.dispatch(sender) { $0.capacity = 50 }
            let order = sender.calls.map(\.sendId)
            #expect(order.count == 1510)
            #expect((order.lastIndex { $0.hasPrefix("urgent") } ?? .max) < 100)
            let tokens = (0..<1001).map { "\"t\($0)\"" }.joined(separator: ",")
            try await bench.enqueue(#"{"sendId": "many", "tokens": [\#(tokens)], "provider": "fcm", "app": "a", "title": "t"}"#)
            try await bench.enqueue(
                #"{"sendId": "named", "tokens": [\#(tokens)], "provider": "fcm", "app": "a", "title": "t", "class": "high"}"#
            )
            let classes = try await bench.pool.query(
                "SELECT sendId, class::text FROM pushSends WHERE sendId IN ('many', 'named') ORDER BY sendId"
            )
            #expect(try classes.map { try $0.decode((String, String).self).1 } == ["bulk", "high"])
        }
    }
}
