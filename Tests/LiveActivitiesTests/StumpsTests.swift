import Cricket
import Delivery
import HTTPServer
import Postgres
import Providers
import PushContract
import Testing

@testable import LiveActivities

/// The nights of a match over several days: activities end at stumps, and come back with the next day's play (reference §3.4, rule 8).
@Suite("Stumps")
struct StumpsTests {
    private static let night = Duration.seconds(17 * 3600)

    /// Until the activities of an evening end.
    private func rest(_ bench: LiveBench) async throws {
        bench.clock.advance(LiveSubject.restsAfter)
        try await bench.run()
    }

    @Test("C-27: at stumps activities end with the day's last score, nothing leaves overnight, and play brings them back")
    func overnight() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.running("bob", "bobs", 2)
            bench.apns.forget()
            bench.clock.advance(.seconds(2))
            try await bench.score(phase: "stumps", runs: 320)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["update", "update"])
            #expect(bench.apns.calls.allSatisfy { $0.contentState.contains(#""runs":320"#) })
            bench.apns.forget()
            try await rest(bench)
            #expect(bench.apns.calls.map(\.event) == ["end", "end"])
            let end = bench.apns.calls[0]
            #expect(end.contentState.contains(#""runs":320"#))
            #expect(end.aps.integer("dismissal-date") == bench.now.seconds + 900, "to be seen for a while")
            #expect(try await bench.states("ann") == ["ended/stumps"])
            bench.apns.forget()
            for _ in 0..<4 {
                bench.clock.advance(Self.night / 4)
                try await bench.run()
            }
            #expect(bench.apns.calls.isEmpty, "no heartbeat, no start, no update")
            #expect(try await bench.count("SELECT count(*) FROM follows") == 2)
            #expect(try await bench.count("SELECT count(*) FROM activeMatches WHERE expiresAt IS NULL") == 1)
            try await bench.score(phase: "live", runs: 320)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["start", "start"])
            #expect(try await bench.states("ann") == ["ended/stumps", "pending"])
            try await bench.postToken("ann", "phone", 11)
            bench.apns.forget()
            try await bench.score(phase: "live", runs: 324)
            try await bench.run()
            #expect(bench.apns.calls("update").map(\.token) == [LiveBench.updateToken(11)])
            #expect(try await bench.states("ann") == ["ended/stumps", "active"])
        }
    }

    @Test("who swiped the match away, or unfollowed it, does not get it back in the morning; who follows overnight gets it then")
    func wanted() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.running("bob", "bobs", 2)
            try await bench.running("cem", "cems", 3)
            bench.clock.advance(.seconds(120))
            #expect(try await bench.dismiss("ann", "phone") == .unfollow(1))
            try await bench.score(phase: "stumps", runs: 300)
            try await rest(bench)
            // The card of the evening goes from the screen in its own time: that is nobody's swipe at the match.
            bench.clock.advance(.seconds(900))
            #expect(try await bench.dismiss("cem", "cems", instance: 1) == .ignored(.oldInstance))
            try await bench.follows.unfollow(userId: "bob", matchId: "m1", now: bench.now)
            try await bench.phone("eve", "eves", 4)
            try await bench.follow("eve")
            bench.apns.forget()
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
            #expect(try await bench.postToken("cem", "cems", 33) == .activityEnded, "an activity that came late is over as well")
            bench.clock.advance(Self.night)
            try await bench.score(phase: "live", runs: 300)
            try await bench.run()
            #expect(Set(bench.apns.calls("start").map(\.token)) == [LiveBench.startToken(3), LiveBench.startToken(4)])
            #expect(try await bench.states("ann") == ["ended/user_dismissed"])
            #expect(try await bench.states("bob", "bobs") == ["ended/stumps"])
        }
    }

    @Test("a start that nobody had allowed yet is given up at stumps, and an app that opens in the morning may start by itself")
    func pending() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.run()
            #expect(try await bench.states() == ["pending"])
            try await bench.score(phase: "stumps", runs: 300)
            try await rest(bench)
            #expect(try await bench.states() == ["ended/stumps"])
            #expect(bench.apns.calls("end").isEmpty, "there is no token to send it to")
            bench.clock.advance(Self.night)
            try await bench.score(phase: "live", runs: 300)
            #expect(try await bench.postToken("ann", "phone", 5) == .create(2))
            bench.apns.forget()
            try await bench.run()
            #expect(bench.apns.calls("start").isEmpty)
            #expect(try await bench.states() == ["ended/stumps", "active"])
        }
    }

    @Test("stumps reach the subscribers of a channel by a broadcast; the channel is deleted overnight, and the next day has another")
    func channel() async throws {
        try await LiveBench.with {
            $0.channels.mode = .own
        } _: { bench in
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.run()
            #expect(try await bench.states() == ["active"])
            bench.apns.channels.forget()
            try await bench.score(phase: "stumps", runs: 300)
            try await bench.run()
            #expect(Set(bench.apns.channels.calls("broadcast").map(\.isEnd)) == [false])
            bench.apns.channels.forget()
            try await rest(bench)
            let end = try #require(bench.apns.channels.calls("broadcast").first)
            #expect(end.isEnd && end.state.contains(#""runs":300"#))
            #expect(try await bench.states() == ["ended/stumps"])
            for wait in [60, 240, 600, 60] {
                bench.clock.advance(.seconds(wait))
                try await bench.run()
            }
            #expect(try await bench.count("SELECT count(*) FROM activityChannels") == 0)
            bench.clock.advance(Self.night)
            try await bench.score(phase: "live", runs: 300)
            try await bench.run()
            #expect(try await bench.states() == ["ended/stumps", "active"])
            #expect(try await bench.count("SELECT count(*) FROM activityChannels WHERE retiredAt IS NULL AND channelId IS NOT NULL") == 1)
        }
    }

    @Test("one wrong state that says stumps takes no card away, and the next one starts none")
    func wrongState() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.fcmDevice("ann", "android", 2)
            try await bench.running("ann", "phone", 1)
            bench.apns.forget()
            for phase in ["stumps", "live"] {
                bench.clock.advance(.seconds(30))
                try await bench.score(phase: phase, runs: 2)
                try await bench.run()
                #expect(bench.calls(to: LiveBench.updateToken(1)).last?.contentState.contains(phase) == true)
            }
            #expect(Set(bench.calls(to: LiveBench.updateToken(1)).map(\.event)) == ["update"])
            #expect(bench.calls(to: LiveBench.startToken(1)).isEmpty)
            #expect(!bench.android(2).contains { $0.data("event") == "end" })
            #expect(try await bench.states() == ["active"])
        }
    }

    @Test("a match that has not begun after all: its cards leave after a minute and say nothing of play, and one start brings each back")
    func notBegun() async throws {
        try await LiveBench.with { bench in
            let store = MatchStore(pool: bench.pool)
            let live = try MatchSamples.scores()[1]
            /// The events that the change brings.
            func change(_ sequence: Int64, _ phase: MatchPhase) async throws -> [MatchEventType] {
                bench.clock.advance(.seconds(2))
                var score = live
                score.sequence = sequence
                score.phase = phase
                let receipt = try await store.accept(score, now: bench.now)
                #expect(receipt.result == .accepted)
                return receipt.events
            }
            try await bench.fcmDevice("ann", "android", 2)
            #expect(try await change(1, .live).contains(.matchStart))
            try await bench.running("ann", "phone", 1)
            bench.apns.forget()
            // One wrong state.
            #expect(try await change(2, .scheduled).isEmpty)
            try await bench.run()
            #expect(try await change(3, .live).contains(.matchStart))
            try await bench.run()
            #expect(Set(bench.calls(to: LiveBench.updateToken(1)).map(\.event)) == ["update"])
            #expect(bench.calls(to: LiveBench.startToken(1)).isEmpty)
            #expect(!bench.android(2).contains { $0.data("event") == "end" })
            #expect(try await bench.states() == ["active"])
            bench.apns.forget()
            #expect(try await change(4, .scheduled).isEmpty)
            try await bench.run()
            #expect(bench.calls(to: LiveBench.updateToken(1)).isEmpty && bench.android(2).isEmpty)
            bench.clock.advance(.seconds(90))
            try await bench.run()
            try await bench.run()
            let end = try #require(bench.calls(to: LiveBench.updateToken(1)).first)
            #expect(bench.calls(to: LiveBench.updateToken(1)).count == 1 && end.event == "end")
            #expect(end.aps.integer("dismissal-date") < end.timestamp)
            #expect(end.contentState.contains(#""phase":"scheduled""#) && !end.contentState.contains("match_start"))
            #expect(bench.android(2).map { $0.data("event") } == ["end"])
            #expect(try await bench.states() == ["ended/stumps"])
            bench.apns.forget()
            #expect(try await change(5, .live).contains(.matchStart))
            try await bench.run()
            try await bench.run()
            #expect(bench.calls(to: LiveBench.startToken(1)).map(\.event) == ["start"])
            #expect(try await bench.states() == ["ended/stumps", "pending"])
        }
    }
}
