import Delivery
import HTTPServer
import Postgres
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("Broadcast channels that fail")
struct ChannelErrorTests {
    private let scope = BroadcastScope(app: "com.example.app", environment: .production)

    @Test(
        "a channel that Apple refuses costs nothing but the channel: starts go by token at once, and no other is asked for until the pause is over",
        arguments: ["FeatureNotEnabled", "CannotCreateChannelConfig"]
    )
    func refused(_ reason: String) async throws {
        try await ChannelTests.with { bench in
            bench.apns.channels.answer("create", .apns(400, reason))
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.run()
            let start = try #require(bench.apns.calls("start").first)
            #expect(start.aps.integer("input-push-token") == 1 && start.aps["input-push-channel"] == nil)
            #expect(try await bench.channels.scopes().first?.refusal == reason)
            try await bench.postToken("ann", "phone", 1)
            try await bench.score("m2", runs: 1)
            try await bench.follow("ann", "m2")
            try await bench.run()
            #expect(bench.apns.calls("start").count == 2, "another match does not wait, either")
            #expect(bench.apns.channels.calls("create").count == 1)
            #expect(try await bench.count("SELECT count(*) FROM pushCircuits") == 0, "the credential is as good as ever")
            bench.clock.advance(.seconds(601))
            try await bench.run()
            #expect(bench.apns.channels.calls("create").count == 3)
        }
    }

    @Test("while Apple is in trouble starts wait for the channel for ten seconds, and then begin with tokens")
    func trouble() async throws {
        try await ChannelTests.with { bench in
            bench.apns.channels.answer("create", .apns(503, "ServiceUnavailable"), .apns(503, "ServiceUnavailable"))
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("old", "phone-old", 2, osVersion: "17.5")
            for user in ["ann", "old"] { try await bench.follow(user) }
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2)], "older systems do not wait")
            bench.clock.advance(.seconds(5))
            try await bench.run()
            #expect(bench.apns.channels.calls("create").count == 2)
            bench.clock.advance(.seconds(5))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 2)
            bench.clock.advance(.seconds(60))
            try await bench.run()
            #expect(bench.apns.channels.ids == ["channel-1=="], "who follows later listens")
        }
    }

    @Test("near Apple's limit no channel is made: counted are what it lists, whoever made them, and what was made since")
    func limit() async throws {
        try await ChannelTests.with {
            $0.limit = 5
            $0.reserve = 2
        } _: { bench in
            for number in 1...2 { bench.apns.channels.add("somebody-\(number)", to: scope) }
            try await bench.listening()
            bench.clock.advance(.seconds(600))
            try await bench.run()
            #expect(try await bench.channels.scopes().map(\.count) == [3])
            #expect(try await bench.channels.scopes().map(\.unknown) == [2])
            try await bench.score("m2", runs: 1)
            try await bench.follow("ann", "m2")
            try await bench.run()
            #expect(bench.apns.channels.calls("create").count == 1)
            #expect(bench.apns.calls("start").last?.aps.integer("input-push-token") == 1)
            let overview = try await bench.channels.overview()
            #expect(overview.limit == 5 && overview.mode == "own")
            #expect(overview.channels.map { "\($0.matchId) \($0.state) \($0.activities)" } == ["m2 wanted 0", "m1 open 1"])
        }
    }

    @Test(
        "a process that dies between making a channel and noting it leaves one that is found by listing, and deleted; the match gets another"
    )
    func leftOver() async throws {
        try await ChannelTests.with { bench in
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            let now = bench.now
            // What the dying process does, up to its death.
            #expect(try await bench.channels.requestMissing(["m1"], now: now) == 1)
            let claims = try await bench.channels.claim(limit: 10, now: now)
            #expect(claims.contains { if case .make = $0 { true } else { false } })
            _ = await bench.apns.createChannel(.none, in: scope, now: now)
            #expect(try await bench.channels.claim(limit: 10, now: now).isEmpty, "claimed once")
            bench.clock.advance(.seconds(61))
            try await bench.run()
            try await bench.run()
            #expect(bench.apns.channels.ids == ["channel-1==", "channel-2=="])
            #expect(try await bench.states() == ["active"] || bench.apns.calls("start").count == 1)
            for _ in 0..<4 {
                bench.clock.advance(.seconds(600))
                try await bench.run()
            }
            #expect(bench.apns.channels.ids == ["channel-2=="])
            #expect(try await bench.channels.scopes().map(\.unknown) == [0])
        }
    }

    @Test("shared with somebody else, an unknown channel is counted and left alone")
    func shared() async throws {
        try await ChannelTests.with {
            $0.mode = .shared
        } _: { bench in
            bench.apns.channels.add("theirs", to: scope)
            try await bench.listening()
            for _ in 0..<5 {
                bench.clock.advance(.seconds(600))
                try await bench.run()
            }
            #expect(bench.apns.channels.ids == ["theirs", "channel-1=="])
            #expect(try await bench.channels.scopes().map(\.unknown) == [1])
        }
    }

    @Test("a channel that Apple has lost: what has a token goes on by it, the rest is started anew, and a channel is made again")
    func gone() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening("ann", "phone", 1)
            try await bench.listening("bob", "phone-bob", 2)
            try await bench.postToken("bob", "phone-bob", 2)
            bench.apns.channels.removeAll()
            bench.apns.forget()
            try await bench.score(runs: 4)
            try await bench.run()
            try await bench.run()
            #expect(try await bench.states("bob", "phone-bob") == ["active"])
            #expect(bench.apns.calls("update").map(\.token) == [LiveBench.updateToken(2)])
            #expect(try await bench.states("ann").first == "ended/token_invalid")
            let refused = try await bench.count(
                "SELECT count(*) FROM notificationDeliveryAttempts WHERE uid = 'channel:m1' AND providerErrorCode = 'ChannelNotRegistered'"
            )
            #expect(refused == 1)
            bench.clock.advance(.seconds(31))
            try await bench.run()
            try await bench.run()
            #expect(bench.apns.channels.calls("create").count == 2)
            #expect(try await bench.states("ann") == ["ended/token_invalid", "active"])
            #expect(bench.apns.calls("start").last?.aps.text("input-push-channel") == "channel-2==")
        }
    }

    @Test("a refused credential blocks channels and broadcasts as it does pushes, until a probe is due")
    func credential() async throws {
        try await ChannelTests.with { bench in
            bench.apns.channels.answer("create", .apns(403, "InvalidProviderToken"))
            bench.apns.channels.answer("list", .apns(403, "InvalidProviderToken"))
            // Pushes are refused, too: an accepted one would say that only channels are.
            bench.apns.answer(LiveBench.startToken(1), .apns(403, "InvalidProviderToken"))
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.run()
            #expect(try await bench.count("SELECT count(*) FROM pushCircuits WHERE closedAt IS NULL") == 1)
            let asked = bench.apns.channels.calls.count
            bench.clock.advance(.seconds(2))
            try await bench.run()
            #expect(bench.apns.channels.calls.count <= asked + 1, "one try now and then")
            #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE uid LIKE 'channel:%'") == 0)
        }
    }

    @Test("an end that cannot be broadcast is retried, and so is the deletion of a channel")
    func retried() async throws {
        try await ChannelTests.with { bench in
            try await bench.listening()
            bench.apns.channels.forget()
            bench.apns.channels.answer("broadcast", .apns(503, "ServiceUnavailable"), .unanswered)
            bench.apns.channels.answer("delete", .apns(500, "InternalServerError"))
            try await bench.score(phase: "ended", runs: 2)
            for wait in [0, 2, 10, 60, 240, 600, 5, 30] {
                bench.clock.advance(.seconds(wait))
                try await bench.run()
            }
            #expect(bench.apns.channels.calls("broadcast").count == 6, "two in vain, then four times")
            #expect(bench.apns.channels.calls("delete").count == 2)
            #expect(bench.apns.channels.ids.isEmpty)
            let rows = try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE requestId = 'live-end:m1'")
            #expect(rows == 6)
        }
    }
}
