import Delivery
import Logging
import Postgres
import Providers
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import LiveActivities

@Suite("Shutdown")
struct ShutdownTests {
    /// An APNs that never answers: a request ends only when it is given up, and nobody knows then what became of it.
    private final class SilentAPNs: PushProvider {
        private let asked = Mutex(0)

        var requests: Int { asked.withLock { $0 } }

        func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
            asked.withLock { $0 += 1 }
            try? await Task.sleep(for: .seconds(3600))
            return .unanswered
        }
    }

    @Test("pushes that nobody answers are given up at shutdown, each with its row, and the match is given away")
    func unanswered() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...3 { try await bench.running("user\(number)", "phone\(number)", number) }
            try await bench.phone("eve", "tablet", 4)
            try await bench.follow("eve")
            let rows = try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE pushType = 'liveactivity'")
            // The process that ran so far gives the match away; the next one meets the silence.
            await bench.engine.release()
            try await bench.score(runs: 2)
            let apns = SilentAPNs()
            var configuration = LiveConfiguration()
            configuration.drainLimit = .milliseconds(100)
            let next = LiveInstance(bench.pool, configuration, lookup: { _, _, _ in apns }, clock: bench.clock)
            let service = LiveService(engine: next.engine, wake: WakeSignal(), logger: .silent)
            let group = ServiceGroup(
                configuration: .init(services: [.init(service: next.dispatcher), .init(service: service)], logger: .silent)
            )
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await eventually("four requests are in flight") { apns.requests >= 4 }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            #expect(apns.requests == 4, "three updates and a start")
            let lost = try await bench.count(
                """
                SELECT count(*) FROM notificationDeliveryAttempts
                WHERE pushType = 'liveactivity' AND status = 'failed' AND reasonCode = 'network' AND providerErrorCode = 'OutcomeUnknown'
                """
            )
            #expect(lost == 4)
            let all = try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE pushType = 'liveactivity'")
            #expect(all == rows + 4)
            #expect(try await bench.count("SELECT count(*) FROM activeMatches WHERE leaseUntil IS NOT NULL") == 0)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome = 'unknown'") == 1)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome IS NULL") == 0)
        }
    }
}
