import Postgres
import PushContract
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("Silent feeds")
struct FeedSilenceTests {
    @Test("a heartbeat moves the stale date only as far as the feed confirmed the state")
    func heartbeats() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.clock.advance(.seconds(600))
            try await bench.confirm()
            let confirmed = bench.now.seconds
            bench.clock.advance(.seconds(301))
            try await bench.run(feedIsSilent: true)
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.count == 1)
            #expect(bench.apns.calls.first?.aps.integer("stale-date") == confirmed + 1800)
            bench.clock.advance(.seconds(7200))
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.count == 1, "nothing re-dates a state that was not confirmed since")
        }
    }

    @Test("while a feed is silent nothing is started or rolled over; when it is back, both are")
    func noStarts() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.clock.advance(.seconds(25_000))
            try await bench.confirm()
            bench.clock.advance(.seconds(2_001))
            bench.apns.forget()
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.follow("bob")
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.isEmpty)
            #expect(try await bench.states() == ["active"])
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls("start").count == 2)
            #expect(try await bench.states() == ["active", "pending"])
        }
    }

    @Test("a start that waits in the queue when the feed becomes silent is not sent")
    func waitingStart() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            _ = try await bench.engine.turn(all: true)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts") == 1)
            bench.clock.advance(.seconds(1801))
            try await bench.instance.send()
            #expect(bench.apns.calls.isEmpty)
        }
    }

    @Test("six silent hours end the activities with the cause; they come back with the feed, and not before")
    func end() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.clock.advance(.seconds(6 * 3600))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.states() == ["active"])
            bench.clock.advance(.seconds(1))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.states() == ["ended/match_end"])
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE endCause = 'feed_silent'") == 1)
            #expect(bench.apns.calls.map(\.event) == ["end"])
            bench.clock.advance(.seconds(3 * 86_400))
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.count == 1)
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["end", "start"])
            #expect(try await bench.states() == ["ended/match_end", "pending"])
        }
    }

    @Test(
        "a feed silenced for three days: no start, nothing re-dated, the card stale in time, the activity ended; it all goes on with the feed"
    )
    func threeDays() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            let shownUntil = try #require(bench.apns.calls("start").first?.aps.integer("stale-date"))
            #expect(shownUntil <= bench.now.seconds + 1800)
            bench.apns.forget()
            // As if it had stopped then: all stored times lie three days back, and nobody looked meanwhile.
            bench.clock.advance(.seconds(3 * 86_400))
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.follow("bob")
            for _ in 0..<3 {
                try await bench.run(feedIsSilent: true)
                bench.clock.advance(.seconds(1000))
            }
            #expect(bench.apns.calls.map(\.event) == ["end"], "no start, no heartbeat that dates the old score anew")
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE endCause = 'feed_silent'") >= 1)
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE status = 'active'") == 0)
            let match = try #require(try await MatchStore(pool: bench.pool).display("m1", now: bench.now))
            #expect(match.feed == .lost)
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["start", "start"], "for who had a card and for who followed meanwhile")
            #expect(try await MatchStore(pool: bench.pool).display("m1", now: bench.now)?.feed == .confirmed)
        }
    }

    @Test(
        "a feed's followers are counted once it has confirmed nothing for a minute; who pushes may be quiet in a break; what is over counts no more"
    )
    func affected() async throws {
        try await LiveBench.with { bench in
            for (match, phase) in [("m1", "live"), ("m2", "live"), ("m3", "break"), ("m4", "live"), ("m5", "ended")] {
                try await bench.score(match, phase: phase, runs: 1)
                for user in ["ann", "bob"] { try await bench.follow(user, match) }
            }
            try await bench.pool.execute("UPDATE activeMatches SET feedUrl = 'https://feed.example/all' WHERE matchId IN ('m1', 'm2')")
            let store = FeedHealthStore(pool: bench.pool)
            func followers() async throws -> [String: Int64] {
                Dictionary(uniqueKeysWithValues: try await store.feeds(now: bench.now).map { ($0.name, $0.followers) })
            }
            bench.clock.advance(.seconds(59))
            #expect(try await followers() == ["https://feed.example/all": 0, "pushed: m3": 0, "pushed: m4": 0])
            bench.clock.advance(.seconds(1))
            try await bench.pool.execute(MatchQueries.confirm("matchId = 'm2'", now: bench.now))
            #expect(try await followers() == ["https://feed.example/all": 2, "pushed: m3": 0, "pushed: m4": 2])
            bench.clock.advance(.seconds(1800))
            #expect(try await followers() == ["https://feed.example/all": 4, "pushed: m3": 2, "pushed: m4": 2])
            let overview = try await MatchOverviewStore(pool: bench.pool).matches(now: bench.now)
            #expect(
                Dictionary(uniqueKeysWithValues: overview.map { ($0.matchId, $0.feed) })
                    == ["m1": .stale, "m2": .silent, "m3": .stale, "m4": .stale, "m5": .confirmed]
            )
        }
    }

    @Test("a state that is sent again, and a 304, confirm; an older state does not")
    func confirmation() async throws {
        try await withDatabase { pool in
            let store = MatchStore(pool: pool)
            let scores = try MatchSamples.scores()
            let source = MatchSource(url: "https://feed.example/m1")
            let start = Timestamp(seconds: Timestamp.now().seconds)
            func confirmedAt() async throws -> Timestamp {
                try await pool.query("SELECT confirmedAt FROM activeMatches")[0].decode(Timestamp.self)
            }
            for score in scores[1...2] { _ = try await store.accept(score, from: source, now: start) }
            _ = try await store.accept(scores[1], from: source, now: start + .seconds(10))
            #expect(try await confirmedAt() == start)
            _ = try await store.accept(scores[2], from: source, now: start + .seconds(20))
            #expect(try await confirmedAt() == start + .seconds(20))
            try await store.confirm(feed: source.url, now: start + .seconds(30))
            #expect(try await confirmedAt() == start + .seconds(30))
            try await store.confirm(feed: "https://feed.example/other", now: start + .seconds(40))
            #expect(try await confirmedAt() == start + .seconds(30))
        }
    }
}
