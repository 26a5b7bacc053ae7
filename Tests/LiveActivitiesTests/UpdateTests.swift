import Cricket
import Delivery
import HTTPServer
import Logging
import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("Updates")
struct UpdateTests {
    @Test("L-05: only active records receive score updates, through the token of the activity")
    func onlyActive() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.running("bob", "phone-bob", 2)
            // One update to both: the fan-out has both tokens when one of the activities ends.
            try await bench.score(runs: 2)
            try await bench.run()
            try await bench.follows.unfollow(userId: "bob", matchId: "m1", now: bench.now)
            try await bench.phone("eve", "phone-eve", 3)
            try await bench.follow("eve")
            try await bench.run()
            bench.apns.forget()
            try await bench.score(runs: 3)
            try await bench.run()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.updateToken(1)])
            #expect(bench.apns.calls("update").count == 1)
            let state = bench.apns.calls[0].contentState
            #expect(state.contains(#""runs":3"#))
        }
    }

    @Test("L-06, L-07: every follower gets the same bytes, built once for each state")
    func identical() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...12 { try await bench.running("user\(number)", "phone\(number)", number) }
            bench.apns.forget()
            for runs in 2...4 {
                bench.clock.advance(.seconds(2))
                try await bench.score(runs: runs, event: ("six", 12))
                try await bench.run()
            }
            let bodies = Dictionary(grouping: bench.apns.calls("update"), by: \.bytes)
            #expect(bodies.count == 3)
            #expect(bodies.values.map(\.count) == [12, 12, 12])
            // Built once: not only alike, but the same array.
            let arrays = bench.apns.calls("update").map { $0.bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
            #expect(Set(arrays).count == 3)
        }
    }

    @Test("timestamps rise strictly for each token, also when states come within a second or a clock is behind")
    func timestamps() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            for runs in 2...5 {
                try await bench.score(runs: runs)
                try await bench.run()
            }
            bench.clock.advance(.seconds(-30))
            try await bench.score(runs: 6)
            try await bench.run()
            let stamps = bench.apns.calls.filter { $0.token == LiveBench.updateToken(1) }.map(\.timestamp)
            #expect(stamps.count == 5)
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
            #expect(try await bench.count("SELECT lastTimestampSent FROM liveActivities") == Int(stamps.last ?? 0))
        }
    }

    @Test("an activity whose token comes gets the newest state at once, unless its start showed that one")
    func newcomer() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.follow("ann")
            try await bench.follow("bob")
            try await bench.score(runs: 1)
            try await bench.run()
            try await bench.postToken("ann", "phone", 1)
            try await bench.run()
            #expect(bench.apns.calls("update").isEmpty)
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls("update").map(\.token) == [LiveBench.updateToken(1)])
            try await bench.postToken("bob", "phone-bob", 2)
            try await bench.run()
            #expect(bench.apns.calls("update").map(\.token) == [LiveBench.updateToken(1), LiveBench.updateToken(2)])
        }
    }

    @Test("L-13: a rotated token takes the old one's place in the same row, and the old one gets nothing more")
    func rotation() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            #expect(try await bench.postToken("ann", "phone", 1) == .unchanged(1))
            #expect(try await bench.postToken("ann", "phone", 9) == .rotate(1))
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.updateToken(9)])
            #expect(try await bench.count("SELECT count(*) FROM liveActivities") == 1)
            let stored = try await bench.pool.query("SELECT updateToken FROM liveActivities")[0].decode(String.self)
            #expect(stored.hasPrefix("encrypted:"))
        }
    }

    @Test("a token that was replaced and is posted once more, late, takes no place again, whether or not the app names the instance")
    func lateRepetition() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            #expect(try await bench.postToken("ann", "phone", 9) == .rotate(1))
            #expect(try await bench.postToken("ann", "phone", 1) == .unchanged(1))
            #expect(try await bench.postToken("ann", "phone", 1, instance: 1) == .unchanged(1))
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.updateToken(9)])
            #expect(try await bench.postToken("ann", "phone", 8) == .rotate(1))
            try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
            #expect(try await bench.postToken("ann", "phone", 9) == .activityEnded)
        }
    }

    @Test("a token that was replaced by one that came late takes its place again when it is posted ten minutes later")
    func latePredecessor() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            // The first post of the token before.
            #expect(try await bench.postToken("ann", "phone", 9) == .rotate(1))
            bench.clock.advance(.seconds(599))
            #expect(try await bench.postToken("ann", "phone", 1) == .unchanged(1))
            bench.clock.advance(.seconds(1))
            #expect(try await bench.postToken("ann", "phone", 1, instance: 1) == .rotate(1))
            #expect(try await bench.postToken("ann", "phone", 9) == .unchanged(1))
        }
    }

    @Test("a token that was replaced and is posted again is its activity's, not that of the next one that was started")
    func predecessorWhileRollingOver() throws {
        let now = Timestamp(seconds: 1_800_000_000)
        let token = { (number: Int) in try PushToken(LiveBench.token(number), provider: .apns).hash }
        let current = ActivityInstance(
            number: 1,
            status: .active,
            tokenHash: try token(2),
            tokenRegisteredAt: now - .seconds(600),
            replacedTokenHash: try token(1)
        )
        let history = ActivityHistory([current, ActivityInstance(number: 2, status: .pending, startSentAt: now)])
        let verdict = { (hash: TokenHash) in history.verdict(on: hash, instance: nil, mayStart: true, now: now) }
        #expect(verdict(try token(1)) == .rotate(1))
        #expect(verdict(try token(2)) == .unchanged(1))
        #expect(verdict(try token(3)) == .adopt(2, replacing: 1))
    }

    @Test("a failed update is sent again after a rest, as the newest state by then")
    func failure() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.apns.answer(LiveBench.updateToken(1), .apns(503, "ServiceUnavailable"))
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.count == 1)
            try await bench.score(runs: 3)
            try await bench.run()
            #expect(bench.apns.calls.count == 1)
            bench.clock.advance(.seconds(1))
            try await bench.run()
            #expect(bench.apns.calls.count == 2)
            #expect(bench.apns.calls[1].contentState.contains(#""runs":3"#))
            let rows = try await bench.pool.query(
                "SELECT status, reasonCode FROM notificationDeliveryAttempts WHERE requestId LIKE 'live:%' ORDER BY attemptedAt"
            ).map { try $0.decode((String, String?).self) }
            #expect(rows.map(\.0) == ["failed", "sent"])
            #expect(rows[0].1 == "provider_5xx")
        }
    }

    @Test("a heartbeat goes out when nothing was sent for 15 minutes, quietly and with a later timestamp")
    func heartbeat() async throws {
        try await LiveBench.with { bench in
            try await bench.score(phase: "break", runs: 1, event: ("innings_end", 2), alert: "Innings over")
            try await bench.running()
            bench.apns.forget()
            bench.clock.advance(.seconds(899))
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
            bench.clock.advance(.seconds(2))
            try await bench.run()
            try await bench.run()
            let sendHeartbeats = try #require(bench.apns.calls.first)
            #expect(bench.apns.calls.count == 1)
            #expect(sendHeartbeats.message.priority == .normal)
            #expect(sendHeartbeats.aps["alert"] == nil)
            #expect(sendHeartbeats.aps.integer("stale-date") == sendHeartbeats.timestamp + 1800)
        }
    }

    @Test("C-23: a heartbeat renews the date in a match's state, which is all that an app can read, and no number")
    func heartbeatDate() async throws {
        try await LiveBench.with { bench in
            let store = MatchStore(pool: bench.pool)
            _ = try await store.accept(try MatchSamples.scores()[1], now: bench.now)
            try await bench.running()
            let before = try #require(try await store.display("m1", now: bench.now))
            bench.apns.forget()
            for _ in 0..<16 {
                bench.clock.advance(.seconds(60))
                try await bench.run()
            }
            let push = try #require(bench.apns.calls("update").first)
            #expect(bench.apns.calls.count == 1 && push.timestamp > before.timestamp)
            #expect(push.aps["content-state"]?["updatedAt"]?.integer == push.timestamp)
            let display = try #require(try await store.display("m1", now: bench.now))
            let date = #""updatedAt":"#
            #expect(display.text == before.text.replacing("\(date)\(before.timestamp)", with: "\(date)\(push.timestamp)"))
            #expect(display.timestamp == push.timestamp && display.seq == before.seq)
        }
    }

    @Test("an important event is sent at priority 10 with an alert; nobody is alerted of one that is old")
    func alerts() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            try await bench.score(runs: 2, event: ("wicket", 5), alert: "WICKET!")
            try await bench.run()
            #expect(bench.apns.calls[0].message.priority == .high)
            #expect(bench.apns.calls[0].aps["alert"]?.text.contains("WICKET!") == true)
            bench.apns.forget()
            // Written while nobody sent.
            try await bench.score(runs: 3, event: ("wicket", 5), alert: "WICKET!")
            bench.clock.advance(.seconds(121))
            try await bench.run()
            #expect(bench.apns.calls[0].aps["alert"] == nil)
        }
    }

    @Test("G-07, L-11, C-12: a 410 ends the activity with token_invalid, records deactivated, and touches no other token")
    func gone() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered", goneAt: bench.now + .seconds(1)))
            try await bench.score(runs: 2)
            try await bench.run(all: false)
            #expect(try await bench.states() == ["ended/token_invalid"])
            let row = try await bench.pool.query(
                "SELECT status, reasonCode FROM notificationDeliveryAttempts WHERE requestId LIKE 'live:%'"
            ).map { try $0.decode((String, String).self) }
            #expect(row.map(\.0) == ["deactivated"] && row.map(\.1) == ["token_not_registered"])
            let device = try await bench.devices.device(userId: "ann", deviceId: "phone", now: bench.now)
            #expect(device?.tokenState == .active)
            #expect(try await bench.count("SELECT count(*) FROM devices WHERE pushToStartToken IS NOT NULL") == 1)
            // It heals itself: the next cycle starts it again.
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["update", "start"])
            #expect(try await bench.states() == ["ended/token_invalid", "pending"])
            #expect(bench.apns.calls("end").isEmpty)
        }
    }

    @Test("C-11: a 410 older than the token's registration does not count")
    func staleGone() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered", goneAt: bench.now - .seconds(3600)))
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(try await bench.states() == ["active"])
        }
    }

    @Test("a token refused as BadDeviceToken is tried with the next state, and ends with the second refusal")
    func suspect() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.answer(LiveBench.updateToken(1), .apns(400, "BadDeviceToken"), .apns(400, "BadDeviceToken"))
            try await bench.score(runs: 2)
            try await bench.run(all: false)
            #expect(try await bench.states() == ["active"])
            try await bench.score(runs: 3)
            try await bench.run(all: false)
            #expect(try await bench.states() == ["ended/token_invalid"])
        }
    }

    @Test("L-12: recovery is at once the first time, then after 2, 10 and 30 minutes, then not for a day")
    func recoveryBackOff() async throws {
        try await LiveBench.with {
            $0.policy.perHour = 99
            $0.policy.perDay = 99
        } _: { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            let statuses = StartStatusStore(pool: bench.pool, policy: bench.policy)
            for (number, wait) in [0, 120, 600, 1800].enumerated() {
                bench.apns.answer(LiveBench.updateToken(number + 1), .apns(410, "Unregistered"))
                try await bench.score(runs: number + 2)
                try await bench.run(all: false)
                let next = try #require(try await statuses.statuses(of: "ann", now: bench.now).first)
                #expect(next.state == .waiting && next.reason == .later && (next.startsAt == nil) == (wait == 0))
                bench.apns.forget()
                if wait > 0 {
                    try await bench.run()
                    bench.clock.advance(.seconds(wait - 1))
                    try await bench.run()
                    #expect(bench.apns.calls("start").isEmpty, "after \(number) recoveries")
                    bench.clock.advance(.seconds(1))
                }
                try await bench.run()
                #expect(bench.apns.calls("start").count == 1, "after \(number) recoveries")
                try await bench.postToken("ann", "phone", number + 2)
                try await bench.run()
            }
            bench.apns.answer(LiveBench.updateToken(5), .apns(410, "Unregistered"))
            try await bench.score(runs: 9)
            try await bench.run(all: false)
            #expect(try await statuses.statuses(of: "ann", now: bench.now).map(\.reason) == [.tokenInvalid])
            bench.apns.forget()
            bench.clock.advance(.seconds(7200))
            try await bench.run()
            #expect(bench.apns.calls("start").isEmpty)
            bench.clock.advance(.seconds(86_400))
            try await bench.confirm()
            _ = try await bench.engine.turn(all: true)
            #expect(try await bench.states().last == "pending", "a day later it begins anew")
        }
    }

    @Test("F-12, C-27: after seven and a half hours a new activity is started, and the old one ends when the new one is there")
    func rollOver() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.clock.advance(.seconds(26_999))
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(try await bench.states() == ["active"])
            bench.clock.advance(.seconds(1))
            try await bench.run()
            #expect(try await bench.states() == ["active", "pending"])
            bench.apns.forget()
            try await bench.score(runs: 3)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["update"])
            #expect(bench.apns.calls.map(\.token) == [LiveBench.updateToken(1)])
            #expect(try await bench.postToken("ann", "phone", 2, instance: 2) == .adopt(2, replacing: 1))
            bench.apns.forget()
            try await bench.run()
            #expect(try await bench.states() == ["ended/rolled_over", "active"])
            #expect(bench.apns.calls("end").map(\.token) == [LiveBench.updateToken(1)])
            #expect(bench.apns.calls("update").map(\.token) == [LiveBench.updateToken(2)])
        }
    }

    @Test("a match whose feed raises the sequence alone is rolled over once")
    func sequenceAlone() async throws {
        try await LiveBench.with { bench in
            let store = MatchStore(pool: bench.pool)
            var score = try MatchSamples.scores()[1]
            score.phase = .live
            score.sequence = 1
            _ = try await store.accept(score, now: bench.now)
            try await bench.running()
            for halfHour in 1...46 {
                bench.clock.advance(.seconds(1800))
                score.sequence = Int64(halfHour + 1)
                let receipt = try await store.accept(score, now: bench.now)
                #expect(receipt.result == .unchanged)
                try await bench.run()
                guard halfHour == 15 else { continue }
                #expect(try await bench.postToken("ann", "phone", 2, instance: 2) == .adopt(2, replacing: 1))
            }
            #expect(bench.apns.calls("start").count == 2)
            #expect(try await bench.states() == ["ended/rolled_over", "active"])
        }
    }

    @Test("the eight hours count from the start, however late its token comes, and from the token if the app started the activity")
    func lateToken() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.follow("bob", from: "phone-bob", startsHere: true)
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(1)])
            bench.clock.advance(.seconds(2700))
            #expect(try await bench.postToken("ann", "phone", 1) == .adopt(1, replacing: nil))
            #expect(try await bench.postToken("bob", "phone-bob", 2) == .adopt(1, replacing: nil))
            bench.clock.advance(.seconds(27_000 - 2701))
            try await bench.run()
            #expect(try await bench.states() == ["active"])
            bench.clock.advance(.seconds(1))
            try await bench.run()
            #expect(try await bench.states() == ["active", "pending"])
            #expect(try await bench.states("bob", "phone-bob") == ["active"])
            bench.clock.advance(.seconds(1801))
            #expect(try await bench.dismiss("ann", "phone", instance: 1) == .ignored(.afterSystemLimit))
        }
    }

    @Test("the lease: while one process holds a match no other sends for it, and a late owner is taken over with a higher epoch")
    func takeover() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            let second = bench.another(owner: "second")
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await second.runUntilIdle()
            #expect(bench.apns.calls.isEmpty)
            let before = try await bench.count("SELECT epoch FROM activeMatches")
            try await bench.pool.execute("UPDATE activeMatches SET leaseUntil = clock_timestamp() - interval '1 second'")
            try await second.runUntilIdle()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.updateToken(1)])
            #expect(try await bench.count("SELECT epoch FROM activeMatches") == before + 1)
            // The first finds out that it has lost the match, and sends nothing more.
            bench.apns.forget()
            try await bench.score(runs: 3)
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
            try await second.runUntilIdle()
            #expect(bench.apns.calls.count == 1)
        }
    }

    @Test("a device's boundaries at priority 10 are counted on when another process takes its match over")
    func budgetSurvives() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            for runs in 2...7 {
                try await bench.score(runs: runs, event: ("six", 12))
                try await bench.run()
            }
            #expect(bench.apns.calls("update").map(\.message.priority) == Array(repeating: .high, count: 6))
            try await bench.pool.execute("UPDATE activeMatches SET leaseUntil = clock_timestamp() - interval '1 second'")
            let second = bench.another(owner: "second")
            bench.apns.forget()
            for runs in 8...11 {
                try await bench.score(runs: runs, event: ("four", 13))
                try await second.runUntilIdle()
            }
            #expect(bench.apns.calls("update").map(\.message.priority) == [.high, .high, .normal, .normal])
        }
    }

    @Test("A1: every update leaves its attempt row in the transaction that notes what the device was sent")
    func attempts() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...5 { try await bench.running("user\(number)", "phone\(number)", number) }
            for runs in 2...4 {
                try await bench.score(runs: runs)
                try await bench.run()
            }
            let rows = try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE requestId LIKE 'live:m1:%'")
            #expect(rows == bench.apns.calls("update").count)
            #expect(rows == 15)
        }
    }
}

/// What fails for one.
extension UpdateTests {
    @Test("an update token that cannot be decrypted keeps nobody else from updates and starts")
    func unreadableToken() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.running("bob", "phone-bob", 2)
            try await bench.pool.execute("UPDATE liveActivities SET updateToken = left(updateToken, 40) WHERE userId = 'ann'")
            try await bench.pool.execute("UPDATE activeMatches SET leaseUntil = clock_timestamp() - interval '1 second'")
            try await bench.phone("cid", "phone-cid", 3)
            try await bench.follow("cid")
            try await bench.score(runs: 2)
            bench.apns.forget()
            try await bench.another(owner: "next").runUntilIdle()
            #expect(bench.apns.calls("update").map(\.token) == [LiveBench.updateToken(2)])
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(3)])
            #expect(try await bench.states("ann") == ["active"])
        }
    }

    @Test("an update token that cannot be decrypted is logged once, also if it comes after the state was published")
    func unreadableTokenIsLogged() async throws {
        try await LiveBench.with { bench in
            let log = RecordingLog { $0.level >= .error }
            let instance = bench.another(owner: "logging", logger: log.logger)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            for runs in 1...2 {
                try await bench.score(runs: runs)
                try await instance.runUntilIdle()
            }
            try await bench.postToken("ann", "phone", 1)
            try await bench.pool.execute("UPDATE liveActivities SET updateToken = left(updateToken, 40)")
            for runs in 3...4 {
                try await instance.runUntilIdle()
                #expect(log.events.map { "\($0.message)" } == ["update tokens cannot be decrypted; their activities are not updated"])
                try await bench.score(runs: runs)
            }
        }
    }

    @Test("a subject that cannot be updated keeps no other from starting")
    func failingSubject() async throws {
        try await LiveBench.with { bench in
            for (number, match) in ["m1", "m2", "m3"].enumerated() {
                try await bench.phone("u\(number)", "phone-\(number)", number)
                try await bench.follow("u\(number)", match)
                try await bench.score(match, runs: 1)
            }
            try await bench.pool.execute(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$
                """
            )
            try await bench.pool.execute(
                """
                CREATE TRIGGER refuse BEFORE UPDATE ON liveActivities FOR EACH ROW WHEN (old.matchId = 'm2') EXECUTE FUNCTION refuse()
                """
            )
            try await bench.run()
            #expect(Set(bench.apns.calls("start").map(\.token)) == [LiveBench.startToken(0), LiveBench.startToken(2)])
            try await bench.pool.execute("DROP TRIGGER refuse ON liveActivities")
            bench.clock.advance(.seconds(5))
            try await bench.run()
            #expect(bench.apns.calls("start").last?.token == LiveBench.startToken(1))
        }
    }

    @Test("a state that could not be published because of the database is published later")
    func failedPublication() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.pool.execute("ALTER TABLE activityAlerts RENAME TO lostAlerts")
            _ = try? await bench.engine.turn()
            #expect(bench.apns.calls.isEmpty)
            try await bench.pool.execute("ALTER TABLE lostAlerts RENAME TO activityAlerts")
            bench.clock.advance(.seconds(5))
            try await bench.run(all: false)
            #expect(bench.apns.calls.map(\.event) == ["update"] && bench.apns.calls[0].contentState.contains(#""runs":2"#))
        }
    }
}
