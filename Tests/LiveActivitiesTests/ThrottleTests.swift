import Delivery
import Postgres
import Providers
import PushContract
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("Throttled updates")
struct ThrottleTests {
    @Test(
        "a throttle delays what can wait, starts and ends as other sends, and lets wickets through; the newest state is sent after it"
    )
    func throttled() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...8 { try await bench.running("user\(number)", "phone\(number)", number) }
            try await ThrottleStore(pool: bench.pool).set([throttle(bench)], recording: .test())
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect((1...2).contains(bench.apns.calls.count), "the probe floor alone")
            try await bench.score(runs: 3, event: ("six", 12))
            try await bench.run()
            #expect(bench.apns.calls.count <= 4, "boundaries can wait")
            bench.apns.forget()
            bench.clock.advance(.seconds(2))
            try await bench.score(runs: 4, event: ("wicket", 5), alert: "OUT")
            try await bench.run()
            #expect(Set(bench.apns.calls("update").map(\.token)).count == 8, "a wicket cannot")
            try await bench.phone("eve", "tablet", 9)
            try await bench.follow("eve")
            let started = try await bench.engine.turn(all: true)
            #expect(started.isEmpty && bench.apns.calls("start").isEmpty)
            #expect(try await bench.count("SELECT count(*) FROM pushReady") == 1, "its start is in the queue")
            bench.apns.forget()
            try await bench.score(runs: 5)
            try await bench.run()
            #expect(bench.apns.calls.count <= 3, "the probe floor of the queue, too")
            _ = try await ThrottleStore(pool: bench.pool).remove(provider: .apns, app: nil, recording: .test())
            bench.clock.advance(.seconds(2))
            try await bench.run()
            #expect(bench.apns.calls("update").count == 8 && bench.apns.calls("start").count == 1)
            #expect(bench.apns.calls.allSatisfy { $0.contentState.contains(#""runs":5"#) })
        }
    }

    @Test("a throttle of another app, or of FCM, delays nothing")
    func others() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...4 { try await bench.running("user\(number)", "phone\(number)", number) }
            var other = throttle(bench)
            other.app = "com.example.other"
            var fcm = throttle(bench)
            fcm.provider = .fcm
            try await ThrottleStore(pool: bench.pool).set([other, fcm], recording: .test())
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.count == 4)
        }
    }

    private func throttle(_ bench: LiveBench) -> SendThrottle {
        SendThrottle(
            provider: .apns,
            app: nil,
            perMinute: 0,
            reason: "APNs answers 503",
            author: "ops",
            createdAt: bench.now,
            expiresAt: bench.now + .seconds(3600)
        )
    }
}
