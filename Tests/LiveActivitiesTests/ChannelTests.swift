import HTTPServer
import Postgres
import Providers
import PushContract
import ServiceKit
import Testing

@testable import Delivery
@testable import LiveActivities

/// The queue of broadcast channels (reference §3.7): made, used, ended and deleted. What goes wrong with them: `ChannelErrorTests`.
@Suite("Broadcast channels")
struct ChannelTests {
    @Test("one channel for a match, app and environment, made once by two processes; iOS 18 listens to it, older systems bring tokens")
    func starts() async throws {
        try await ChannelTests.with { bench in
            let second = bench.another(owner: "second") { $0.channels.mode = .own }
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.phone("old", "phone-old", 3, osVersion: "17.5")
            for user in ["ann", "bob", "old"] { try await bench.follow(user) }
            try await bench.score(runs: 1)
            async let one: Void = bench.run()
            async let other: Void = second.runUntilIdle()
            _ = try await (one, other)
            try await bench.run()
            #expect(bench.apns.channels.calls("create").count == 1)
            let starts = Dictionary(uniqueKeysWithValues: bench.apns.calls("start").map { ($0.token, $0.aps) })
            #expect(starts.count == 3)
            for number in 1...2 {
                #expect(starts[LiveBench.startToken(number)]?.text("input-push-channel") == "channel-1==")
                #expect(starts[LiveBench.startToken(number)]?["input-push-token"] == nil)
            }
            #expect(starts[LiveBench.startToken(3)]?["input-push-channel"] == nil)
            #expect(starts[LiveBench.startToken(3)]?.integer("input-push-token") == 1)
            // It is there with its start: no token will tell of it.
            #expect(try await bench.states("ann") == ["active"])
            #expect(try await bench.states("old", "phone-old") == ["pending"])
            let answered = try await bench.engine.stores.orchestrator.starts(since: bench.now - .seconds(60))
            #expect(answered.unanswered == 0, "no token is missed from those that listen")
        }
    }

    @Test("a match that goes live a moment after channels were looked for waits for its own, and so does the first follower of another app")
    func wantedAtOnce() async throws {
        try await ChannelTests.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.run()
            bench.clock.advance(.milliseconds(100))
            try await bench.score(runs: 1)
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").map { $0.aps.text("input-push-channel") } == ["channel-1=="])
            bench.clock.advance(.milliseconds(100))
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.pool.execute("UPDATE devices SET app = 'com.example.other' WHERE userId = 'bob'")
            try await bench.follow("bob")
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").count == 1, "looked for once a second")
            bench.clock.advance(.seconds(1))
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").map { $0.aps.text("input-push-channel") } == ["channel-1==", "channel-2=="])
        }
    }

    @Test("each state is one broadcast for all that listen and one push for each token; each leaves its row, and nothing is sent twice")
    func updates() async throws {
        try await ChannelTests.with { bench in
            try await bench.score(runs: 1)
            for number in 1...5 {
                try await bench.phone("user\(number)", "phone\(number)", number)
                try await bench.follow("user\(number)")
            }
            try await bench.phone("old", "phone-old", 9, osVersion: "17.5")
            try await bench.follow("old")
            try await bench.run()
            try await bench.postToken("old", "phone-old", 9)
            try await bench.run()
            bench.apns.forget()
            bench.apns.channels.forget()
            for runs in 2...4 {
                bench.clock.advance(.seconds(2))
                try await bench.score(runs: runs, event: ("wicket", 5), alert: "OUT")
                try await bench.run()
                try await bench.run()
            }
            let broadcasts = bench.apns.channels.calls("broadcast")
            #expect(broadcasts.count == 3 && bench.apns.calls.count == 3)
            #expect(bench.apns.calls.allSatisfy { $0.token == LiveBench.updateToken(9) })
            // The same content for both queues.
            #expect(broadcasts.map(\.state) == bench.apns.calls.map(\.contentState))
            #expect(
                broadcasts.allSatisfy { $0.push?.priority == .high && $0.push?.alert?.title == .plain("OUT") && $0.push?.expiresAt == nil }
            )
            let stamps = broadcasts.compactMap { $0.push?.timestamp }
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
            let rows = try await bench.pool.query(
                """
                SELECT uid, status, tokenHash FROM notificationDeliveryAttempts WHERE uid = 'channel:m1' AND pushType = 'liveactivity'
                """
            ).map { try $0.decode((String, String, String).self) }
            #expect(rows.count == broadcasts.count + 1, "with the one that told the first state")
            #expect(rows.allSatisfy { $0.1 == "sent" && $0.2 == BroadcastChannel(id: "channel-1==", storage: .none).hash.rawValue })
        }
    }

    @Test("the end is broadcast with the final state, repeated for phones that were offline, and then the channel is deleted")
    func end() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening()
            bench.apns.channels.forget()
            bench.clock.advance(.seconds(2))
            try await bench.score(phase: "ended", runs: 99, event: ("match_end", 1), alert: "RR won")
            try await bench.run()
            let end = try #require(bench.apns.channels.calls("broadcast").first)
            #expect(end.isEnd && end.state.contains(#""runs":99"#))
            #expect(end.push?.event == .end(dismissal: bench.now + .seconds(900)))
            #expect(end.push?.alert?.title == .plain("RR won"))
            #expect(try await bench.states() == ["ended/match_end"])
            #expect(bench.apns.calls("end").isEmpty, "there is no token to end")
            for wait in [60, 240, 600] {
                #expect(bench.apns.channels.calls("delete").isEmpty)
                bench.clock.advance(.seconds(wait))
                try await bench.run()
            }
            let ends = bench.apns.channels.calls("broadcast")
            #expect(ends.count == 4 && ends.allSatisfy(\.isEnd))
            #expect(Set(ends.map(\.state)).count == 1 && Set(ends.map { $0.push?.timestamp }).count == 1)
            #expect(Set(ends.map { $0.push?.event }).count == 1, "they all go at the same moment")
            #expect(ends.dropFirst().allSatisfy { $0.push?.alert == nil }, "nobody is alerted twice")
            #expect(Set(ends.map(\.attemptId)).count == 4, "each is an attempt of its own")
            try await bench.run()
            #expect(bench.apns.channels.calls("delete").map(\.id) == ["channel-1=="])
            #expect(bench.apns.channels.ids.isEmpty)
            #expect(try await bench.count("SELECT count(*) FROM activityChannels") == 0)
            let rows = try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE requestId = 'live-end:m1'")
            #expect(rows == 4)
        }
    }

    @Test("who listens and has posted a token gets the end through it a minute later as well, without the alert: broadcasts are not stored")
    func endByToken() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening("ann", "phone", 1)
            try await bench.listening("bob", "phone-bob", 2)
            #expect(try await bench.postToken("bob", "phone-bob", 2) == .rotate(1))
            bench.apns.forget()
            bench.apns.channels.forget()
            bench.clock.advance(.seconds(2))
            try await bench.score(phase: "ended", runs: 99, event: ("match_end", 1), alert: "RR won")
            try await bench.run()
            #expect(bench.apns.channels.calls("broadcast").first?.push?.alert?.title == .plain("RR won"))
            #expect(bench.apns.calls("end").isEmpty, "it could arrive before the broadcast, which has the alert")
            bench.clock.advance(LiveEnd.broadcastTime)
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = clock_timestamp()")
            try await bench.run()
            let ends = bench.apns.calls("end")
            #expect(ends.map(\.token) == [LiveBench.updateToken(2)] && ends.allSatisfy { $0.aps["alert"] == nil })
            #expect(ends.allSatisfy { $0.contentState.contains(#""runs":99"#) })
        }
    }

    @Test("a channel whose match is deleted before all of its ends were sent is deleted at once")
    func matchIsGone() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening()
            try await bench.score(phase: "ended", runs: 99)
            try await bench.run()
            #expect(bench.apns.channels.calls("delete").isEmpty)
            try await bench.pool.execute("DELETE FROM activeMatches")
            bench.clock.advance(.seconds(60))
            try await bench.run()
            #expect(bench.apns.channels.calls("delete").map(\.id) == ["channel-1=="])
            #expect(bench.apns.channels.ids.isEmpty)
            #expect(try await bench.count("SELECT count(*) FROM activityChannels") == 0)
        }
    }

    @Test("an unfollow ends the activity that listens here; on the phone it goes by its token if the app has posted one")
    func unfollow() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening("ann", "phone", 1)
            try await bench.listening("bob", "phone-bob", 2)
            #expect(try await bench.postToken("bob", "phone-bob", 2) == .rotate(1))
            bench.apns.forget()
            bench.apns.channels.forget()
            try await bench.score(runs: 5)
            try await bench.run()
            #expect(bench.apns.calls.isEmpty, "who listens is told by the channel alone")
            #expect(bench.apns.channels.calls("broadcast").count == 1)
            for user in ["ann", "bob"] { try await bench.follows.unfollow(userId: user, matchId: "m1", now: bench.now) }
            try await bench.run()
            #expect(try await bench.states("ann") == ["ended/user_unfollow"])
            #expect(bench.apns.calls("end").map(\.token) == [LiveBench.updateToken(2)])
        }
    }

    @Test("a state that phones missed by subscribing during its broadcast is broadcast once more, once for all of them")
    func catchUp() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening()
            bench.clock.advance(.seconds(2))
            try await bench.score(runs: 7)
            try await bench.run()
            for number in 2...4 {
                try await bench.phone("user\(number)", "phone\(number)", number)
                try await bench.follow("user\(number)")
            }
            // Their starts were made with the state before: claimed, and then the match went on.
            #expect(try await bench.engine.turn(all: true).pushes.isEmpty)
            var claims = QueueClaims(policy: QueueScheduler.Policy())
            var claimed: [ClaimedDelivery] = []
            _ = try await bench.instance.dispatcher.round(&claims) { claimed.append($0.delivery) }
            #expect(claimed.count == 3)
            bench.clock.advance(.seconds(2))
            try await bench.score(runs: 8)
            try await bench.engine.runUntilIdle()
            #expect(bench.apns.channels.calls("broadcast").last?.state.contains(#""runs":8"#) == true)
            bench.apns.channels.forget()
            await bench.instance.dispatcher.working {
                for delivery in claimed { await bench.instance.dispatcher.handle(StartedDelivery(delivery)) }
            }
            #expect(bench.apns.calls("start").suffix(3).allSatisfy { $0.contentState.contains(#""runs":7"#) })
            try await bench.run()
            #expect(bench.apns.channels.calls("broadcast").isEmpty, "not before they listen")
            bench.clock.advance(.seconds(2))
            try await bench.run()
            let broadcasts = bench.apns.channels.calls("broadcast")
            #expect(broadcasts.count == 1 && broadcasts[0].state.contains(#""runs":8"#))
            bench.clock.advance(.seconds(60))
            try await bench.run()
            #expect(bench.apns.channels.calls("broadcast").count == 1)
        }
    }

    @Test("after seven and a half hours the next activity listens to the same channel, and takes the old one's place")
    func rollOver() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening()
            bench.clock.advance(.seconds(27_000))
            try await bench.score(runs: 3)
            try await bench.run()
            try await bench.run()
            #expect(try await bench.states() == ["ended/rolled_over", "active"])
            #expect(bench.apns.calls("start").count == 2)
            #expect(bench.apns.channels.calls("create").count == 1)
        }
    }

    @Test("without a new state the next activity follows once, and none after the system's eight hours; with one it does")
    func unchanged() async throws {
        try await ChannelTests.with { bench in
            func starts() -> Int { bench.apns.calls("start").count }
            try await bench.listening()
            bench.clock.advance(.seconds(27_000))
            for _ in 0..<2 { try await bench.run() }
            #expect(try await bench.states() == ["ended/rolled_over", "active"])
            bench.clock.advance(.seconds(27_600))
            try await bench.run()
            #expect(starts() == 2)
            bench.clock.advance(.seconds(4 * 3600))
            try await bench.score(runs: 3)
            for _ in 0..<2 { try await bench.run() }
            #expect(try await bench.states() == ["ended/rolled_over", "ended/rolled_over", "active"])
            #expect(starts() == 3)
        }
        try await ChannelTests.with { bench in
            try await bench.listening()
            // Nobody looked meanwhile.
            bench.clock.advance(.seconds(8 * 3600 + 60))
            try await bench.run()
            #expect(try await bench.states() == ["active"])
            try await bench.score(runs: 3)
            for _ in 0..<2 { try await bench.run() }
            #expect(try await bench.states() == ["ended/rolled_over", "active"])
        }
    }

    @Test("switched off, no channel is made, and those there are, are served to their end")
    func deactivated() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening()
            await bench.engine.release()
            let off = bench.another(owner: "off")
            bench.apns.channels.forget()
            try await bench.phone("eve", "phone-eve", 5)
            try await bench.follow("eve")
            try await bench.score(runs: 2)
            try await off.runUntilIdle()
            #expect(bench.apns.calls("start").last?.aps["input-push-channel"] == nil)
            #expect(bench.apns.channels.calls("broadcast").count == 1)
            try await bench.score(phase: "ended", runs: 3)
            for wait in [0, 60, 240, 600, 60] {
                bench.clock.advance(.seconds(wait))
                try await off.runUntilIdle()
            }
            #expect(bench.apns.channels.ids.isEmpty)
            #expect(bench.apns.channels.calls("create").isEmpty)
        }
    }

    static func with(_ change: (inout ChannelPolicy) -> Void = { _ in }, _ body: (LiveBench) async throws -> Void) async throws {
        try await LiveBench.with {
            $0.channels.mode = .own
            change(&$0.channels)
        } _: {
            try await body($0)
        }
    }
}

extension LiveBench {
    /// A follower whose activity listens to the match's channel and was sent the current state.
    func listening(_ userId: String = "ann", _ deviceId: String = "phone", _ number: Int = 1) async throws {
        try await score(runs: 1)
        try await phone(userId, deviceId, number)
        try await follow(userId)
        try await run()
        try await run()
        #expect(try await states(userId, deviceId) == ["active"])
        #expect(try await count("SELECT count(*) FROM liveActivities WHERE channelId IS NOT NULL AND userId = \(userId)") == 1)
    }
}
