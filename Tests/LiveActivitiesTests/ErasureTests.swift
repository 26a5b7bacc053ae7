import Delivery
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("What is kept of followers")
struct ErasureTests {
    @Test("of a user who is erased, follows go at once, and activities once their cards are taken off the screens")
    func erase() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.running("bob", "bobs", 2)
            bench.apns.forget()
            try await bench.devices.erase(userId: "ann", requestId: "erase", recording: .test(at: bench.now))
            #expect(try await bench.count("SELECT count(*) FROM follows WHERE userId = 'ann'") == 0)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE userId = 'ann'") == 0)
            try await bench.run()
            #expect(bench.apns.calls("end").map(\.token) == [LiveBench.updateToken(1)])
            bench.clock.advance(LiveEnd.giveUpAfter)
            try await bench.run()
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE userId = 'ann'") == 0)
            #expect(try await bench.states("bob", "bobs") == ["active"])
            #expect(try await bench.count("SELECT count(*) FROM follows WHERE userId = 'bob'") == 1)
        }
    }

    @Test("of a user who is erased, Android devices are sent the end of what they show, by token, and nothing names the user")
    func eraseAndroid() async throws {
        try await LiveBench.with { bench in
            try await bench.fcmDevice("ann", "android", 1)
            try await bench.fcmDevice("ann", "browser", 2, platform: .web)
            try await bench.fcmDevice("bob", "bobs", 3)
            try await bench.score(runs: 1)
            for user in ["ann", "bob"] { try await bench.follow(user) }
            try await bench.run()
            #expect(bench.android(1).map { $0.data("event") } == ["update"])
            bench.clock.advance(.seconds(20))
            try await bench.follow("ann", "m2")
            try await bench.score(runs: 2)
            bench.apns.forget()
            try await bench.devices.erase(userId: "ann", requestId: "erase", recording: .test(at: bench.now))
            #expect(try await bench.count("SELECT count(*) FROM pushDeliveries WHERE uid = 'ann'") == 0)
            try await bench.run()
            let ends = bench.android(1)
            #expect(ends.map { $0.data("event") } == ["end"] && ends.first?.data("id") == "m1")
            #expect(ends.first?.data("dismissAt") == "\(bench.now.seconds)" && ends.first?.data("endReason") == "device_unregistered")
            #expect(bench.android(2).isEmpty && bench.android(3).map { $0.data("event") } == ["update"])
        }
    }

    @Test("a follow of a match that never comes ends after 90 days; one of a match that is known stays")
    func neverCame() async throws {
        try await LiveBench.with { bench in
            try await bench.score("m1", phase: "scheduled", runs: 0)
            try await bench.follow("ann", "m1")
            try await bench.follow("ann", "nothing")
            bench.clock.advance(.seconds(90 * 86_400 - 60))
            try await bench.run()
            #expect(try await bench.count("SELECT count(*) FROM follows") == 2)
            bench.clock.advance(.seconds(120))
            try await bench.run()
            #expect(try await bench.count("SELECT count(*) FROM follows WHERE matchId = 'm1'") == 1)
            #expect(try await bench.count("SELECT count(*) FROM follows") == 1)
        }
    }
}
