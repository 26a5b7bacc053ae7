import Postgres
import PushContract
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("Silent sources")
struct FeedSilenceTests {
    @Test("a heartbeat moves the stale date only as far as the source confirmed the state", arguments: SilentSource.all)
    func heartbeats(_ source: SilentSource) async throws {
        try await LiveBench.with { bench in
            try await source.send(1, bench)
            try await bench.running(match: source.subject)
            bench.apns.forget()
            bench.clock.advance(.seconds(source.freshFor / 3))
            try await source.confirm(1, bench)
            let confirmed = bench.now.seconds
            bench.clock.advance(.seconds(source.freshFor / 6 - 1))
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.isEmpty)
            bench.clock.advance(.seconds(2))
            try await bench.run(feedIsSilent: true)
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.count == 1)
            #expect(bench.apns.calls.first?.aps.integer("stale-date") == confirmed + source.freshFor)
            bench.clock.advance(.seconds(4 * source.freshFor))
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.count == 1, "nothing re-dates a state that was not confirmed since")
        }
    }

    @Test("while a source is silent nothing is started or rolled over; when it is back, both are", arguments: SilentSource.all)
    func noStarts(_ source: SilentSource) async throws {
        try await LiveBench.with { bench in
            try await source.send(1, bench)
            try await bench.running(match: source.subject)
            bench.clock.advance(.seconds(27_000 - source.freshFor))
            try await source.confirm(1, bench)
            bench.clock.advance(.seconds(source.freshFor + 1))
            bench.apns.forget()
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.follow("bob", source.subject)
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.isEmpty)
            #expect(try await bench.states(match: source.subject) == ["active"])
            let statuses = try await StartStatusStore(pool: bench.pool).statuses(of: "bob", now: bench.now)
            #expect(statuses.map(\.reason) == [.feedSilent] && statuses.map(\.startsAt) == [nil])
            try await source.send(2, bench)
            try await bench.run()
            #expect(bench.apns.calls("start").count == 2)
            #expect(try await bench.states(match: source.subject) == ["active", "pending"])
        }
    }

    @Test("a start that waits in the queue when the source becomes silent is not sent", arguments: SilentSource.all)
    func waitingStart(_ source: SilentSource) async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann", source.subject)
            try await source.send(1, bench)
            _ = try await bench.engine.turn(all: true)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts") == 1)
            bench.clock.advance(.seconds(source.freshFor + 1))
            try await bench.instance.send()
            #expect(bench.apns.calls.isEmpty)
        }
    }

    @Test("a long silence ends the activities with the cause; they come back with the source, and not before", arguments: SilentSource.all)
    func end(_ source: SilentSource) async throws {
        try await LiveBench.with { bench in
            try await source.send(1, bench)
            try await bench.running(match: source.subject)
            bench.apns.forget()
            bench.clock.advance(.seconds(source.endsAfter))
            try await source.confirm(1, bench)
            bench.clock.advance(.seconds(source.endsAfter))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.states(match: source.subject) == ["active"])
            bench.clock.advance(.seconds(1))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.states(match: source.subject) == ["ended/match_end"])
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE endCause = 'feed_silent'") == 1)
            #expect(bench.apns.calls.map(\.event) == ["end"])
            bench.clock.advance(.seconds(3 * 86_400))
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.count == 1)
            // The same state again is enough.
            try await source.confirm(1, bench)
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls.map(\.event) == ["end", "start"])
            #expect(bench.apns.calls("start").first?.aps.integer("stale-date") == bench.now.seconds + source.freshFor)
            #expect(try await bench.states(match: source.subject) == ["ended/match_end", "pending"])
        }
    }

    @Test(
        "silenced for three days: no start, nothing re-dated, the card stale in time, sampled, the activity ended; it all goes on with the source",
        arguments: SilentSource.all
    )
    func threeDays(_ source: SilentSource) async throws {
        try await LiveBench.with { bench in
            try await source.send(1, bench)
            try await bench.running(match: source.subject)
            let shownUntil = try #require(bench.apns.calls("start").first?.aps.integer("stale-date"))
            #expect(shownUntil <= bench.now.seconds + source.freshFor)
            bench.apns.forget()
            // As if it had stopped then: all stored times lie three days back, and nobody looked meanwhile.
            bench.clock.advance(.seconds(3 * 86_400))
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.follow("bob", source.subject)
            for _ in 0..<3 {
                try await bench.run(feedIsSilent: true)
                bench.clock.advance(.seconds(1000))
            }
            #expect(bench.apns.calls.map(\.event) == ["end"], "no start, no heartbeat that dates the old state anew")
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE endCause = 'feed_silent'") >= 1)
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE status = 'active'") == 0)
            #expect(try await source.feed(bench) == .lost)
            let sample = try await FeedHealthStore(pool: bench.pool).feeds(now: bench.now)
            #expect(sample.map(\.followers) == [2] && sample.map(\.silentSeconds) == [3 * 86_400 + 3000])
            #expect(sample.map(\.name) == [source.isMatch ? "pushed: m1" : "pushed: FootballActivityAttributes"])
            bench.apns.forget()
            try await source.send(2, bench)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["start", "start"], "for who had a card and for who followed meanwhile")
            #expect(try await source.feed(bench) == .confirmed)
            #expect(try await FeedHealthStore(pool: bench.pool).feeds(now: bench.now).map(\.followers) == [0])
        }
    }

    private static let week = Duration.seconds(7 * 86_400)

    @Test("a match that nobody has confirmed for a week, counted from its start if that is later, is deleted with its follows")
    func unconfirmedMatch() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            for match in ["m2", "m3", "without startsAt"] {
                try await bench.score(match, phase: "scheduled", runs: 0)
                try await bench.follow("ann", match)
            }
            let start = bench.now + .seconds(86_400)
            try await bench.pool.execute("UPDATE activeMatches SET startsAt = \(bench.now) WHERE matchId = 'm2'")
            try await bench.pool.execute("UPDATE activeMatches SET startsAt = \(start) WHERE matchId = 'm3'")
            bench.clock.advance(.seconds(86_400))
            try await bench.run(feedIsSilent: true)
            bench.clock.advance(Self.week - .seconds(86_401))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.count("SELECT count(*) FROM activeMatches") == 4)
            #expect(try await bench.states() == ["ended/match_end"])
            bench.clock.advance(.seconds(1))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.follows.follows(of: "ann", now: bench.now).sorted() == ["m3", "without startsAt"])
            for (table, rows) in [("activeMatches", 2), ("follows", 2), ("liveActivities", 0)] {
                #expect(try await bench.count("SELECT count(*) FROM \(raw: table)") == rows, "\(table)")
            }
            bench.clock.advance(.seconds(83 * 86_400))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.count("SELECT count(*) FROM activeMatches") == 0)
        }
    }

    @Test(
        "another subject that nobody has confirmed for a week ends, for 90 days without freshFor; the same state again confirms it",
        arguments: [true, false]
    )
    func unconfirmedSubject(_ hasSource: Bool) async throws {
        try await LiveBench.with { bench in
            let source = SilentSource.all[1]
            try await source.send(1, bench)
            let stays = hasSource ? Self.week : .seconds(90 * 86_400)
            if !hasSource { try await bench.pool.execute("UPDATE activitySubjects SET freshFor = NULL") }
            try await bench.follow("ann", source.subject)
            bench.clock.advance(Self.week - .seconds(1))
            try await source.confirm(1, bench)
            bench.clock.advance(stays - .seconds(1))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.count("SELECT count(*) FROM activitySubjects WHERE endedAt IS NULL") == 1)
            bench.clock.advance(.seconds(1))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.count("SELECT count(*) FROM activitySubjects WHERE endedAt IS NOT NULL") == 1)
            bench.clock.advance(.seconds(48 * 3600))
            try await bench.run(feedIsSilent: true)
            for table in ["activitySubjects", "follows"] {
                #expect(try await bench.count("SELECT count(*) FROM \(raw: table)") == 0, "\(table)")
            }
        }
    }

    @Test("of a match with many follows these are deleted first, in portions, then its activities, then the match")
    func unconfirmedPortions() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            try await bench.pool.execute(
                "INSERT INTO follows (userId, matchId, followedAt) SELECT 'u' || n, 'm1', \(bench.now) FROM generate_series(1, 10000) AS n"
            )
            bench.clock.advance(Self.week)
            let store = OrchestratorStore(pool: bench.pool)
            func rows() async throws -> [Int] {
                var rows: [Int] = []
                for table in ["follows", "liveActivities", "activeMatches"] {
                    rows.append(try await bench.count("SELECT count(*) FROM \(raw: table)"))
                }
                return rows
            }
            _ = try await store.sweep(now: bench.now)
            #expect(try await rows() == [1, 1, 1])
            _ = try await store.sweep(now: bench.now)
            #expect(try await rows() == [0, 0, 0])
        }
    }

    @Test("a match that is confirmed while it is about to be deleted stays")
    func confirmedMeanwhile() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            bench.clock.advance(Self.week)
            let store = OrchestratorStore(pool: bench.pool)
            let now = bench.now
            let waiting: Query = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (confirmed, continuation) = AsyncStream<Void>.makeStream()
                group.addTask { [pool = bench.pool] in
                    let isWaitedFor = try await pool.performTransaction { connection -> Bool in
                        try connection.execute(MatchQueries.confirm("matchId = 'm1'", now: now))
                        continuation.finish()
                        // The row stays locked until the other one waits for it.
                        let end = ContinuousClock.now + .seconds(60)
                        while ContinuousClock.now < end {
                            if try connection.query(waiting)[0].decode(Int.self) > 0 { return true }
                        }
                        return false
                    }
                    #expect(isWaitedFor, "nobody waited for the row")
                }
                group.addTask {
                    for await _ in confirmed {}
                    _ = try await store.sweep(now: now)
                }
                try await group.waitForAll()
            }
            #expect(try await bench.count("SELECT count(*) FROM activeMatches") == 1)
        }
    }

    @Test("a week without a confirmation counts from the moment until which another subject is shown as current")
    func unconfirmedUntilStale() async throws {
        try await LiveBench.with { bench in
            try await SilentSource.all[1].send(1, bench)
            try await bench.pool.execute("UPDATE activitySubjects SET staleAt = \(bench.now + .seconds(86_400))")
            func ended() async throws -> Int { try await bench.count("SELECT count(*) FROM activitySubjects WHERE endedAt IS NOT NULL") }
            bench.clock.advance(Self.week + .seconds(86_399))
            try await bench.run(feedIsSilent: true)
            #expect(try await ended() == 0)
            bench.clock.advance(.seconds(1))
            try await bench.run(feedIsSilent: true)
            #expect(try await ended() == 1)
        }
    }

    @Test(
        "Android devices: the moment from which a state is out of date, the end after a long silence, and the state again with the source",
        arguments: SilentSource.all
    )
    func android(_ source: SilentSource) async throws {
        try await LiveBench.with { bench in
            try await bench.fcmDevice("ann", "android", 2)
            try await bench.follow("ann", source.subject)
            try await source.send(1, bench)
            try await bench.run()
            #expect(bench.android(2).map { $0.data("staleAt") } == ["\(bench.now.seconds + source.freshFor)"])
            bench.apns.forget()
            bench.clock.advance(.seconds(source.endsAfter))
            try await bench.run(feedIsSilent: true)
            #expect(bench.android(2).isEmpty)
            bench.clock.advance(.seconds(15))
            try await bench.run(feedIsSilent: true)
            #expect(bench.android(2).map { $0.data("event") } == ["end"] && bench.android(2).first?.data("endCause") == "feed_silent")
            bench.clock.advance(.seconds(60))
            try await source.confirm(1, bench)
            try await bench.run(feedIsSilent: true)
            #expect(bench.android(2).map { $0.data("event") } == ["end", "update"])
            #expect(bench.android(2).last?.data("staleAt") == "\(bench.now.seconds + source.freshFor)")
        }
    }

    @Test("of a type one alert, with the followers of those of its subjects that were not confirmed for freshFor; of one without, none")
    func affectedOfType() async throws {
        try await LiveBench.with { bench in
            let sources = ["a", "b"].map { SilentSource(subject: "FootballActivityAttributes/\($0)", freshFor: 600, endsAfter: 0) }
            for source in sources {
                try await source.send(1, bench)
                for user in ["ann", "bob"] { try await bench.follow(user, source.subject) }
            }
            /// Of the one source: its subjects, how many followers are affected, and for how long it is silent.
            func sample() async throws -> [Int64]? {
                let feeds = try await FeedHealthStore(pool: bench.pool).feeds(now: bench.now)
                #expect(feeds.count <= 1)
                return feeds.first.map { [Int64($0.subjects), $0.followers, $0.silentSeconds] }
            }
            bench.clock.advance(.seconds(599))
            #expect(try await sample() == [2, 0, 599])
            bench.clock.advance(.seconds(1))
            #expect(try await sample() == [2, 4, 600])
            try await sources[1].confirm(1, bench)
            #expect(try await sample() == [2, 2, 600])
            try await bench.pool.execute("UPDATE activitySubjects SET freshFor = NULL")
            #expect(try await sample() == nil)
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
            try await store.confirm(["m1"], from: source, now: start + .seconds(30))
            #expect(try await confirmedAt() == start + .seconds(30))
            try await store.confirm(["m1"], from: MatchSource(url: "https://feed.example/other"), now: start + .seconds(40))
            try await store.confirm(["m2"], from: source, now: start + .seconds(40))
            #expect(try await confirmedAt() == start + .seconds(30))
        }
    }
}
