import Attempts
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery
@testable import LiveActivities

/// Seven followers with an Android device each; three devices are stored at once, two followers in a portion.
@Suite("Pushes to many followers are stored in portions")
struct ManyFollowersTests {
    private static let sizes = FanOutSizes(devicesAtOnce: 3, people: 2)

    private func withFollowers(_ body: (LiveBench, SendStore, FanOutService) async throws -> Void) async throws {
        try await LiveBench.with { bench in
            for number in 1...7 {
                try await bench.fcmDevice("u\(number)", "android-\(number)", number)
                try await bench.follow("u\(number)")
            }
            let sends = SendStore(
                pool: bench.pool,
                fanOutSizes: Self.sizes,
                selection: LiveRecipients.self,
                record: AttemptRecording.recorder(slot: 9, logger: .silent)
            )
            try await body(bench, sends, FanOutService(store: sends, wake: WakeSignal(), logger: .silent))
        }
    }

    private func stored(_ bench: LiveBench) async throws -> Int { try await bench.count("SELECT count(*) FROM pushDeliveries") }

    @Test("the next state waits until the one before is stored for all; an alert does not, and reaches everybody")
    func states() async throws {
        try await withFollowers { bench, _, service in
            let store = OtherDevicesStore(pool: bench.pool, sizes: Self.sizes)
            func send() async throws -> Int? {
                try await store.send("m1", owner: "bench", newcomersSince: nil, check: { _, _ in nil }, now: bench.now)?.deliveries
            }
            try await bench.score(runs: 0)
            try await bench.pool.execute("UPDATE activeMatches SET owner = 'bench', leaseUntil = clock_timestamp() + interval '1 hour'")
            #expect(try await send() == 7)
            #expect(try await stored(bench) == 2)

            bench.clock.advance(.seconds(20))
            try await bench.score(runs: 1)
            #expect(try await send() == 0)
            try await bench.score(runs: 2, event: ("wicket", 2), alert: "WICKET!")
            #expect(try await send() == 7)
            bench.clock.advance(.seconds(20))
            try await bench.score(runs: 3)
            #expect(try await send() == 0)

            try await bench.follows.unfollow(userId: "u6", matchId: "m1", now: bench.now)
            try await service.storeAll()
            #expect(try await bench.count("SELECT count(*) FROM pushFanOuts") == 0)
            try await bench.instance.send()
            for number in 1...7 {
                let last = bench.android(number).last
                #expect(last?.data("alertTitle") == (number == 6 ? nil : "WICKET!"), "\(number)")
                #expect(last?.data("contentState")?.contains(#""runs":2"#) == (number == 6 ? nil : true), "\(number)")
            }
            #expect(try await send() == 6)
        }
    }

    @Test("an alert before a match: a start that moves meanwhile is another send, to those whom the first has not reached")
    func prematch() async throws {
        try await withFollowers { bench, sends, service in
            let alerts = PrematchAlerts(
                pool: bench.pool,
                sends: sends,
                check: SendValidation.checker { _, _, _ in bench.apns },
                lead: .seconds(900),
                now: { [clock = bench.clock] in clock.now },
                logger: .silent
            )
            func start(in seconds: Int64) async throws {
                try await bench.score(phase: "scheduled", runs: 0)
                try await bench.pool.execute("UPDATE activeMatches SET startsAt = \(bench.now + .seconds(seconds))")
            }
            try await start(in: 600)
            try await alerts.look()
            #expect(try await stored(bench) == 2)
            try await bench.instance.send()
            try await start(in: 700)
            try await alerts.look()
            #expect(try await bench.count("SELECT count(*) FROM pushFanOuts WHERE selection LIKE '%beforeMatch%'") == 1)
            try await service.storeAll()
            try await bench.instance.send()
            #expect(try await stored(bench) == 7)
            for number in 1...7 { #expect(bench.android(number).count == 1, "\(number)") }
        }
    }
}
