import Delivery
import HTTPServer
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Fairness and throttling")
struct FairnessTests {
    private func sends(_ count: Int, critical: Bool = false, from first: Int = 0) -> String {
        let items = (0..<count).map {
            #"{"token": "\#(SendingBench.token(first + $0))", "provider": "apns", "app": "a", "title": "t", "critical": \#(critical)}"#
        }
        return "[" + items.joined(separator: ",") + "]"
    }

    @Test("critical sends overtake a large backlog of others")
    func criticalFirst() async throws {
        try await SendingBench.with { bench in
            try await bench.enqueue(sends(2000))
            try await bench.enqueue(sends(20, critical: true, from: 5000))
            let sender = ScriptedProvider()
            try await bench.dispatch(sender) { $0.capacity = 50 }
            #expect(sender.calls.count == 2020)
            let critical = Set((5000..<5020).map(SendingBench.token))
            let last = try #require(sender.calls.lastIndex { critical.contains($0.token) })
            // One round of 50 places holds all twenty; tasks of a round may finish in any order.
            #expect(last < 50)
        }
    }

    @Test("a throttle lets non-critical sends through at the probe rate only, and critical ones freely")
    func throttled() async throws {
        try await SendingBench.with { bench in
            try await bench.enqueue(sends(30))
            try await bench.enqueue(sends(5, critical: true, from: 100))
            let critical = Set((100..<105).map(SendingBench.token))
            let now = Timestamp.now()
            let throttle = SendThrottle(
                provider: .apns,
                app: nil,
                perMinute: 0,
                reason: "outage",
                author: "on-call",
                createdAt: now,
                expiresAt: now + .seconds(600)
            )
            try await bench.throttles.set([throttle], recording: .test())
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.count { critical.contains($0.token) } == 5)
            #expect(sender.calls.count { !critical.contains($0.token) } == 1)
            // A minute later the floor has put four more into the bucket, which saves up no more than two.
            try await bench.pool.execute("UPDATE pushThrottles SET refilledAt = refilledAt - interval '1 minute'")
            try await bench.dispatch(sender)
            #expect(sender.calls.count { !critical.contains($0.token) } == 3)

            #expect(try await bench.throttles.remove(provider: .apns, app: nil, recording: .test()) == 1)
            try await bench.dispatch(sender)
            #expect(sender.calls.count == 35)
        }
    }

    @Test("an expired throttle delays nothing")
    func expired() async throws {
        try await SendingBench.with { bench in
            try await bench.enqueue(sends(10))
            let now = Timestamp.now()
            let throttle = SendThrottle(
                provider: .apns,
                app: nil,
                perMinute: 0,
                reason: "over",
                author: "on-call",
                createdAt: now,
                expiresAt: now - .seconds(1)
            )
            try await bench.throttles.set([throttle], recording: .test())
            #expect(try await bench.throttles.current().isEmpty)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.count == 10)
        }
    }
}
