import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Delivery

@Suite("A large backlog")
struct LargeBacklogTests {
    private static func critical(_ count: Int) -> String {
        let items = (0..<count).map {
            #"{"token": "\#(SendingBench.token($0))", "provider": "apns", "app": "a", "title": "t", "critical": true}"#
        }
        return "[" + items.joined(separator: ",") + "]"
    }

    @Test("critical sends behind 200,000 others are claimed in the next round, though no try of the others has ended")
    func overtaking() async throws {
        try await SendingBench.with { bench in
            try await bench.fill(200_000)
            let dispatcher = bench.dispatcher(ScriptedProvider().lookup) { $0.capacity = 500 }
            var queueClaims = QueueClaims(policy: QueueScheduler.Policy())
            // As long as anything more is to be had: the slots for others are all taken then.
            var others = 0
            while true {
                let claimed = try await dispatcher.claimed(&queueClaims)
                guard !claimed.isEmpty else { break }
                others += claimed.count
                #expect(claimed.allSatisfy { $0.deliveryClass != .critical })
            }
            #expect(others == 400)
            try await bench.enqueue(Self.critical(100))
            let claimed = try await dispatcher.claimed(&queueClaims)
            #expect(claimed.count == 100)
            #expect(claimed.allSatisfy { $0.deliveryClass == .critical })
        }
    }

    @Test("behind an open circuit a queue is claimed in small parts at intervals: what is claimed only learns that it is blocked")
    func behindCircuit() async throws {
        try await SendingBench.with { bench in
            try await bench.fill(1000)
            try await bench.pool.execute(
                """
                INSERT INTO pushCircuits (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals,
                    nextProbeAt)
                SELECT 'refused', provider, app, environment, '', '', 'key-1', 'x', now(), now(), 1, now() + interval '1 hour'
                FROM pushQueues LIMIT 1
                """
            )
            let dispatcher = bench.dispatcher(ScriptedProvider().lookup)
            var queueClaims = QueueClaims(policy: QueueScheduler.Policy())
            let start = ContinuousClock.now
            var claimed: [Int] = []
            for milliseconds in [0, 90, 100] {
                claimed.append(try await dispatcher.claimed(&queueClaims, now: start + .milliseconds(milliseconds)).count)
            }
            #expect(claimed == [10, 0, 10])
            try await bench.pool.execute("UPDATE pushCircuits SET closedAt = now(), closedBy = 'probe'")
            queueClaims.sweptAt = nil
            #expect(try await dispatcher.claimed(&queueClaims, now: start + .milliseconds(110)).count == 250)
        }
    }

    @Test("behind 5,000 critical ones others go on: one of nine slots is theirs")
    func noStarvation() async throws {
        try await SendingBench.with { bench in
            try await bench.fill(2000)
            try await bench.enqueue(Self.critical(5000))
            let dispatcher = bench.dispatcher(ScriptedProvider().lookup) { $0.capacity = 90 }
            var queueClaims = QueueClaims(policy: QueueScheduler.Policy())
            let claimed = try await dispatcher.claimed(&queueClaims)
            #expect(claimed.count { $0.deliveryClass == .critical } == 80)
            #expect(claimed.count { $0.deliveryClass != .critical } == 10)
        }
    }

    @Test("two processes on one queue: no delivery is claimed by both, and a throttle holds for both from their next sweep on")
    func twoProcesses() async throws {
        try await SendingBench.with { bench in
            try await bench.fill(3000)
            let configuration = DispatcherConfiguration()
            // What a process does not see before its next sweep, and how long it may rest before that.
            #expect(configuration.sweep + configuration.longestPause < .seconds(2))
            let dispatchers = (0..<2).map { number in bench.dispatcher(ScriptedProvider().lookup) { $0.worker = "worker-\(number)" } }
            var allQueueClaims = (0..<2).map { _ in QueueClaims(policy: QueueScheduler.Policy()) }
            let start = ContinuousClock.now
            var claimed: [[Int64]] = [[], []]
            for (index, dispatcher) in dispatchers.enumerated() {
                claimed[index] += try await dispatcher.claimed(&allQueueClaims[index], now: start).map(\.deliveryId)
            }
            #expect(claimed.allSatisfy { !$0.isEmpty })
            #expect(Set(claimed[0]).isDisjoint(with: claimed[1]))

            let now = Timestamp.now()
            try await bench.throttles.set(
                [
                    SendThrottle(
                        provider: .apns,
                        app: nil,
                        perMinute: 0,
                        reason: "outage",
                        author: "on-call",
                        createdAt: now,
                        expiresAt: now + .seconds(600)
                    )
                ],
                recording: .test()
            )
            // Both have slots left; what they took before the sweep was theirs to take.
            var throttled = 0
            for (index, dispatcher) in dispatchers.enumerated() {
                throttled += try await dispatcher.claimed(&allQueueClaims[index], now: start + configuration.sweep).count
            }
            // The bucket begins with one and gains one in fifteen seconds.
            #expect((1...2).contains(throttled), "one probe for both, out of one bucket")
            #expect(allQueueClaims.allSatisfy { $0.throttles.count == 1 })
        }
    }
}
