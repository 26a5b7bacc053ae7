import Delivery
import Postgres
import Providers
import PushContract
import Testing

@testable import LiveActivities

@Suite("Fair starts")
struct FairStartTests {
    private static let matches = ["m1", "m2", "m3", "m4", "m5"]

    /// Five matches, followed in their order by a user with one phone.
    private func five(_ bench: LiveBench) async throws {
        try await bench.phone("ann", "phone", 1)
        for match in Self.matches {
            try await bench.follow("ann", match)
            bench.clock.advance(.seconds(1))
        }
    }

    private func goLive(_ bench: LiveBench) async throws {
        for match in Self.matches { try await bench.score(match, runs: 1) }
        try await bench.run()
    }

    private func started(_ bench: LiveBench) async throws -> [String] {
        try await bench.pool.query("SELECT matchId FROM activityStarts ORDER BY claimedAt, matchId").map { try $0.decode(String.self) }
    }

    private func statuses(_ bench: LiveBench, subject: String? = nil) async throws -> [StartStatus] {
        try await StartStatusStore(pool: bench.pool, policy: bench.policy).statuses(of: "ann", subject: subject, now: bench.now)
    }

    @Test("of five matches that go live a device gets the first three that were followed; the others say why and when, and come then")
    func five() async throws {
        try await LiveBench.with { bench in
            try await five(bench)
            let announced = try await statuses(bench)
            #expect(announced.count == 5 && announced.allSatisfy { $0.state == .waiting && $0.reason == .notLive })
            try await goLive(bench)
            let live = bench.now
            #expect(try await started(bench) == ["m1", "m2", "m3"])
            let waiting = try await statuses(bench)
            #expect(waiting.map(\.subject) == Self.matches)
            #expect(waiting.map(\.state) == [.starting, .starting, .starting, .waiting, .waiting])
            #expect(waiting.map(\.reason).suffix(2) == [.startBudget, .startBudget])
            #expect(waiting.map(\.startsAt).suffix(2) == [live + .seconds(3600), live + .seconds(3600)])
            bench.clock.advance(.seconds(3599))
            try await bench.run()
            #expect(try await started(bench).count == 3)
            // Looked at half a minute later; the three repeated starts, for which no token came, go after those that were not sent.
            bench.clock.advance(.seconds(31))
            try await bench.run()
            #expect(Array(try await started(bench).dropFirst(3)) == ["m1", "m4", "m5"])
        }
    }

    @Test("the priority of the match goes first, then the position that the user gave")
    func important() async throws {
        try await LiveBench.with { bench in
            try await five(bench)
            for (match, position) in [("m4", Int16(1)), ("m2", 2)] {
                _ = try await bench.follows.follow(
                    userId: "ann",
                    matchId: match,
                    deviceId: nil,
                    startsHere: false,
                    position: position,
                    now: bench.now
                )
            }
            for match in Self.matches { try await bench.score(match, runs: 1) }
            try await bench.pool.execute("UPDATE activeMatches SET startPriority = 1 WHERE matchId = 'm5'")
            try await bench.run()
            #expect(Set(try await started(bench)) == ["m5", "m4", "m2"])
        }
    }

    @Test("what cannot be started keeps nothing else from being started: an old score, an unfollowed match, an app that starts by itself")
    func notInTheWay() async throws {
        try await LiveBench.with({ $0.policy.perHour = 1 }) { bench in
            try await five(bench)
            for match in Self.matches { try await bench.score(match, runs: 1) }
            try await bench.pool.execute("UPDATE activeMatches SET confirmedAt = confirmedAt - interval '1 hour' WHERE matchId = 'm1'")
            try await bench.follows.unfollow(userId: "ann", matchId: "m2", now: bench.now)
            try await bench.follows.unfollow(userId: "ann", matchId: "m3", now: bench.now)
            try await bench.follow("ann", "m3", from: "phone", startsHere: true)
            try await bench.run(feedIsSilent: true)
            #expect(try await started(bench) == ["m4"])
            let statuses = try await statuses(bench)
            let reasons = Dictionary(uniqueKeysWithValues: statuses.map { ($0.subject, $0.reason) })
            #expect(reasons["m1"] == .feedSilent && reasons["m3"] == .later && reasons["m5"] == .startBudget && reasons["m2"] == nil)
            #expect(try await self.statuses(bench, subject: "m5").first?.startsAt == bench.now + .seconds(3600))
        }
    }

    @Test("a dead start token of one type keeps no start of another type waiting; its own go out when the app brings a new one")
    func deadToken() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1, startToken: false)
            let football = SilentSource.all[1]
            for (number, type) in [(1, "MatchActivityAttributes"), (2, "FootballActivityAttributes")] {
                try await startToken(number, type, bench)
            }
            for match in Self.matches {
                try await bench.follow("ann", match)
                bench.clock.advance(.seconds(1))
                bench.apns.answer(LiveBench.startToken(1), .apns(410, "Unregistered"))
            }
            try await goLive(bench)
            let soon = bench.now + StartOrder.pause
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE status = 'pending' AND nextStartAt <= \(soon)") == 5)
            bench.apns.forget()
            try await bench.follow("ann", football.subject)
            try await football.send(1, bench)
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2)])
            try await startToken(3, "MatchActivityAttributes", bench)
            bench.clock.advance(StartOrder.pause)
            try await bench.run()
            #expect(bench.apns.calls("start").dropFirst().map(\.token) == [LiveBench.startToken(3), LiveBench.startToken(3)])
        }
    }

    private func startToken(_ number: Int, _ type: String, _ bench: LiveBench) async throws {
        let token = try PushToken(LiveBench.startToken(number), provider: .apns)
        let registration = StartTokenRegistration(userId: "ann", deviceId: "phone", token: token, attributesType: type)
        _ = try await bench.devices.register(registration, requestId: "s-\(number)", now: bench.now)
    }

    @Test("large followings share what the rate allows, and what a small one does not need goes to them")
    func shares() async throws {
        try await LiveBench.with({ $0.policy.perSecond = 20 }) { bench in
            let fixture = LiveFixture(pool: bench.pool, cipher: BenchParts.cipher)
            for (match, numbers) in [("m1", 0..<30), ("m2", 30..<60), ("m3", 60..<62)] {
                try await fixture.followers(numbers, of: match, now: bench.now)
                try await bench.score(match, runs: 1)
            }
            _ = try await bench.engine.turn(all: true)
            let counts = try await bench.pool.query("SELECT count(*) FROM activityStarts GROUP BY matchId ORDER BY matchId")
            #expect(try counts.map { try $0.decode(Int.self) } == [9, 9, 2])
        }
    }

    @Test("when there are fewer starts than subjects, who got none goes first; else the most important")
    func turns() {
        let now = Timestamp(seconds: 1_800_000_000)
        var shares = StartShares()
        let first = shares.order(["m1", "m2", "m3"])
        #expect(first == ["m1", "m2", "m3"])
        shares.grant("m1", now: now)
        shares.grant("m2", now: now)
        let second = shares.order(["m1", "m2", "m3"])
        #expect(second == ["m3", "m1", "m2"])
        shares.grant("m3", now: now + .seconds(1))
        let third = shares.order(["m0", "m1", "m3"])
        #expect(third == ["m0", "m1", "m3"])
        #expect(StartShares.share(of: 20, among: 3) == 7 && StartShares.share(of: 1, among: 75) == 1)
    }

    @Test("a running activity is shown, a device without a start token says so")
    func current() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            try await bench.phone("ann", "old", 7, startToken: false)
            let statuses = try await statuses(bench)
            #expect(statuses.map(\.deviceId) == ["old", "phone"] && statuses.map(\.state) == [.pushed, .shown])
            #expect(statuses[0].reason == .noStartToken && statuses[1].since != nil)
        }
    }

    @Test("a start is due when the hour and the day have room for all that go before it")
    func estimate() {
        let now = Timestamp(seconds: 1_800_000_000)
        var policy = StartPolicy()
        policy.perHour = 2
        policy.perDay = 4
        func next(_ ago: [Int64], _ waiting: Int) -> Int64 {
            (StartEstimate.next(after: ago.map { now - .seconds($0) }, waiting: waiting, policy, now: now) - now).components.seconds
        }
        #expect(next([], 0) == 0 && next([], 1) == 0 && next([], 2) == 3600 && next([], 3) == 3600)
        #expect(next([], 4) == 86_400, "the fifth of a day")
        #expect(next([600, 60], 0) == 3000 && next([600, 60], 1) == 3540)
        #expect(next([80_000, 70_000, 60_000, 50_000], 0) == 6400)
    }
}
