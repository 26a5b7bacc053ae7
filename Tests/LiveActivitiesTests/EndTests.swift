import Delivery
import HTTPServer
import Postgres
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("Ends")
struct EndTests {
    @Test("L-08, L-28: the end of a match ends every activity with the final state, and its rows expire 48 hours later")
    func matchEnd() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.running("bob", "phone-bob", 2)
            bench.apns.forget()
            bench.clock.advance(.seconds(2))
            try await bench.score(phase: "ended", runs: 99, event: ("match_end", 1), alert: "RR won")
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["end", "end"])
            let end = bench.apns.calls[0]
            #expect(end.contentState.contains(#""runs":99"#))
            #expect(end.aps.integer("dismissal-date") == bench.now.seconds + 900)
            #expect(end.aps["alert"]?.text.contains("RR won") == true)
            #expect(end.message.priority == .high)
            #expect(Set(bench.apns.calls.map(\.bytes)).count == 1)
            #expect(try await bench.states("ann") == ["ended/match_end"])
            let state = try await bench.pool.query("SELECT pollerState FROM activeMatches")[0].decode(String.self)
            #expect(state == "ended")
            let late = bench.now + .seconds(48 * 3600 - 60)
            for (table, rows) in [("liveActivities", 2), ("follows", 2), ("activeMatches", 1)] {
                let kept: Query = "SELECT count(*) FROM \(raw: table) WHERE expiresAt > \(late)"
                #expect(try await bench.count(kept) == rows, "\(table)")
            }
            bench.clock.advance(.seconds(48 * 3600 + 1))
            try await bench.run()
            for table in ["liveActivities", "follows", "activeMatches"] {
                #expect(try await bench.count("SELECT count(*) FROM \(raw: table)") == 0)
            }
            #expect(bench.apns.calls.count == 2)
        }
    }

    @Test("L-09, L-26: an unfollow ends the activities on all of the user's devices, and only theirs")
    func unfollow() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.run()
            try await bench.postToken("ann", "tablet", 2)
            try await bench.running("bob", "phone-bob", 3)
            bench.apns.forget()
            try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
            try await bench.run()
            #expect(Set(bench.apns.calls("end").map(\.token)) == [LiveBench.updateToken(1), LiveBench.updateToken(2)])
            #expect(try await bench.states("ann") == ["ended/user_unfollow"])
            #expect(try await bench.states("ann", "tablet") == ["ended/user_unfollow"])
            #expect(try await bench.states("bob", "phone-bob") == ["active"])
            // Off the screen at once, and later than anything that was shown.
            let end = bench.apns.calls("end")[0]
            #expect(end.aps.integer("dismissal-date") < end.timestamp)
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.updateToken(3)])
        }
    }

    @Test("an end is later than an update of the newest state that has no outcome yet")
    func laterThanUpdate() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.apns.answer(LiveBench.updateToken(1), .unanswered)
            try await bench.score(runs: 2)
            try await bench.run()
            try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["update", "end"])
            #expect(bench.apns.calls[1].timestamp > bench.apns.calls[0].timestamp)
        }
    }

    @Test("F-19: what the user ended is not started again, until they follow again")
    func notRestarted() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            try await bench.dismiss("ann", "phone")
            bench.apns.forget()
            bench.clock.advance(.seconds(7200))
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
            try await bench.follow("ann")
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["start"])
            #expect(try await bench.states() == ["ended/user_dismissed", "pending"])
        }
    }

    @Test("L-10: a dismissal is an unfollow; the device it happened on needs no end, the others get one")
    func dismissal() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.run()
            try await bench.postToken("ann", "tablet", 2)
            bench.apns.forget()
            #expect(try await bench.dismiss("ann", "phone") == .unfollow(1))
            try await bench.run()
            #expect(bench.apns.calls("end").map(\.token) == [LiveBench.updateToken(2)])
            #expect(try await bench.states() == ["ended/user_dismissed"])
            #expect(try await bench.follows.follows(of: "ann", now: bench.now).isEmpty)
            #expect(try await bench.dismiss("ann", "phone") == .ignored(.afterOwnEnd))
        }
    }

    @Test("C-24: a dismissal that follows from our own end, from a replaced activity or from the system's limit is none")
    func ignoredDismissals() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            #expect(try await bench.dismiss("ann", "phone", cause: .system) == .ignored(.notByUser))
            #expect(try await bench.dismiss("ann", "phone", instance: 7) == .ignored(.unknownActivity))
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered"))
            try await bench.score(runs: 2)
            try await bench.run()
            try await bench.postToken("ann", "phone", 2)
            #expect(try await bench.dismiss("ann", "phone") == .ignored(.afterOwnEnd))
            bench.clock.advance(.seconds(61))
            #expect(try await bench.dismiss("ann", "phone", instance: 1) == .ignored(.oldInstance))
            bench.clock.advance(.seconds(8 * 3600))
            #expect(try await bench.dismiss("ann", "phone") == .ignored(.afterSystemLimit))
            #expect(try await bench.follows.follows(of: "ann", now: bench.now) == ["m1"])
        }
    }

    @Test("L-10: a swipe that the app reports after an update was refused is an unfollow, and nothing is started after that")
    func lateDismissal() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered"))
            try await bench.score(runs: 2)
            try await bench.run()
            // As long as nobody says that it was a swipe, the card comes back.
            bench.apns.forget()
            try await bench.run()
            let refused = try await bench.states()
            #expect(refused == ["ended/token_invalid", "pending"])
            #expect(bench.apns.calls("start").count == 1)
            bench.clock.advance(.seconds(300))
            #expect(try await bench.dismiss("ann", "phone", instance: 1) == .unfollow(1))
            #expect(try await bench.follows.follows(of: "ann", now: bench.now).isEmpty)
            let dismissed = try await bench.states()
            #expect(dismissed == ["ended/token_invalid", "ended/user_dismissed"])
            bench.apns.forget()
            try await bench.score(runs: 3)
            try await bench.run()
            #expect(bench.apns.calls("start").isEmpty)
        }
    }

    @Test("L-10: a swipe that is reported late undoes no follow made since, and counts only within the system's 8 hours")
    func outdatedDismissal() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered"))
            try await bench.score(runs: 2)
            try await bench.run()
            try await bench.run()
            // On another device.
            bench.clock.advance(.seconds(60))
            try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
            bench.clock.advance(.seconds(60))
            try await bench.follow("ann")
            #expect(try await bench.dismiss("ann", "phone", instance: 1) == .ignored(.oldInstance))
            #expect(try await bench.follows.follows(of: "ann", now: bench.now) == ["m1"])
        }
        let start = Timestamp(seconds: 1_000_000)
        for (seconds, verdict) in [(28_800, DismissalVerdict.unfollow(1)), (28_801, .ignored(.afterSystemLimit))] {
            let ended = ActivityInstance(
                number: 1,
                status: .ended,
                endReason: .tokenInvalid,
                startSentAt: start,
                activatedAt: start,
                endedAt: start + .seconds(seconds)
            )
            let found = ActivityHistory([ended]).verdict(
                onDismissal: .user,
                instance: 1,
                followedAt: start,
                now: start + .seconds(40_000)
            )
            #expect(found == verdict)
        }
    }

    @Test("C-23: an activity that the app ended as stale comes back with the next real change, not before")
    func stale() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.clock.advance(.seconds(1900))
            #expect(try await bench.dismiss("ann", "phone", cause: .stale) == .gone(1))
            bench.apns.forget()
            try await bench.run()
            #expect(bench.apns.calls("start").isEmpty)
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1)
        }
    }

    @Test("C-10, D-17, G-06: signing out ends the activities of that device, and nothing more goes to it")
    func signOut() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.run()
            try await bench.postToken("ann", "tablet", 2)
            try await bench.run()
            bench.apns.forget()
            #expect(try await bench.devices.unregister(userId: "ann", deviceId: "phone", requestId: "out", now: bench.now))
            try await bench.run()
            #expect(bench.apns.calls("end").map(\.token) == [LiveBench.updateToken(1)])
            #expect(try await bench.states("ann", "phone") == ["ended/device_unregistered"])
            #expect(try await bench.states("ann", "tablet") == ["active"])
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.updateToken(2)])
        }
    }

    @Test("another user who signs in on the device ends the card of the one before, and gets none of their updates")
    func takeOver() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            bench.apns.forget()
            try await bench.phone("bob", "phone", 1)
            try await bench.run()
            #expect(bench.apns.calls.map { "\($0.event) \($0.token)" } == ["end \(LiveBench.updateToken(1))"])
            #expect(try await bench.states("ann", "phone") == ["ended/device_unregistered"])
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
            #expect(try await bench.follows.follows(of: "ann", now: bench.now) == ["m1"], "a sign-in is no sign-out of theirs")
            bench.clock.advance(.seconds(60))
            try await bench.phone("ann", "phone", 2)
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1, "back, they get their card again")
            #expect(try await bench.states("ann", "phone") == ["ended/device_unregistered", "pending"])
        }
    }

    @Test("what would be started again after a sign-in or a silence, an app may start itself")
    func startedByApp() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            bench.clock.advance(.seconds(60))
            try await bench.phone("bob", "phone", 1)
            try await bench.run()
            #expect(try await bench.postToken("ann", "phone", 2) == .activityEnded, "another user has the device")
            bench.clock.advance(.seconds(60))
            try await bench.phone("ann", "phone", 2)
            #expect(try await bench.postToken("ann", "phone", 2) == .create(2))
            try await bench.run()
            bench.clock.advance(.seconds(6 * 3600 + 1))
            try await bench.run(feedIsSilent: true)
            #expect(try await bench.states("ann", "phone") == ["ended/device_unregistered", "ended/match_end"])
            #expect(try await bench.postToken("ann", "phone", 3) == .activityEnded, "its source is silent still")
            bench.clock.advance(.seconds(1))
            try await bench.confirm()
            #expect(try await bench.postToken("ann", "phone", 3) == .create(3))
        }
    }

    @Test("an end is tried until there is a definite answer, and leaves an attempt each time")
    func retried() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.apns.answer(LiveBench.updateToken(1), .apns(503, "ServiceUnavailable"), .unanswered, .apns(410, "Unregistered"))
            try await bench.score(phase: "ended", runs: 2)
            try await bench.run()
            #expect(bench.apns.calls("end").count == 1)
            for wait in [2, 10, 600, 3600] {
                bench.clock.advance(.seconds(wait))
                try await bench.run()
            }
            #expect(bench.apns.calls("end").count == 3)
            #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE requestId = 'live-end:m1'") == 3)
        }
    }

    @Test("F-05: a late post of an ended activity's token is refused, and does not take the new one's place")
    func latePost() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            try await bench.dismiss("ann", "phone")
            try await bench.follow("ann")
            try await bench.run()
            #expect(try await bench.postToken("ann", "phone", 1) == .activityEnded)
            #expect(try await bench.postToken("ann", "phone", 3, instance: 1) == .activityEnded)
            #expect(try await bench.postToken("ann", "phone", 2) == .adopt(2, replacing: nil))
            #expect(try await bench.postToken("ann", "phone", 1) == .activityEnded)
            #expect(try await bench.states() == ["ended/user_dismissed", "active"])
        }
    }

    @Test("a token that nobody followed for is refused, and one of an unknown device says so")
    func strangers() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            #expect(try await bench.postToken("ann", "phone", 1) == .notFollowing)
            #expect(try await bench.postToken("ann", "watch", 1) == nil)
            // The app may start an activity of a match it follows by itself.
            try await bench.follow("ann", from: "phone", startsHere: true)
            try await bench.run()
            #expect(bench.apns.calls("start").isEmpty)
            #expect(try await bench.postToken("ann", "phone", 1) == .adopt(1, replacing: nil))
        }
    }

    @Test("what an app starts itself is not started for ten minutes, also on a device that is registered only after the follow")
    func startsHere() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.follow("ann", from: "phone", startsHere: true)
            try await bench.score("m2", phase: "scheduled", runs: 0)
            try await bench.follow("ann", "m2", from: "phone", startsHere: true)
            bench.clock.advance(.seconds(20))
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2)])
            bench.apns.forget()
            // What was not live is not started by the app.
            try await bench.score("m2", runs: 1)
            try await bench.run()
            #expect(bench.apns.calls("start").count == 2)
            bench.apns.forget()
            bench.clock.advance(.seconds(579))
            try await bench.run()
            #expect(bench.apns.calls("start").isEmpty)
            #expect(try await bench.states("ann", "phone") == ["pending"])
            bench.clock.advance(.seconds(2))
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(1)])
        }
    }

    @Test("a start that is pending, or in the queue, waits for the app that starts the activity itself", arguments: [false, true])
    func startsHereLater(_ isQueued: Bool) async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.follow("ann")
            if isQueued { _ = try await bench.engine.turn(all: true) }
            #expect(try await bench.count("SELECT count(*) FROM pushReady") == (isQueued ? 2 : 0))
            bench.clock.advance(.seconds(1))
            try await bench.follow("ann", from: "phone", startsHere: true)
            bench.clock.advance(.seconds(599))
            for _ in 1...2 { try await bench.run() }
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2)])
            bench.clock.advance(.seconds(1))
            try await bench.run()
            #expect(bench.apns.calls("start").last?.token == LiveBench.startToken(1))
        }
    }

    @Test("a follow that arrives after the end expires with the match, and no device waits for it")
    func lateFollow() async throws {
        try await LiveBench.with { bench in
            let end = bench.now
            let scores = try MatchSamples.scores()
            _ = try await MatchStore(pool: bench.pool).accept(scores[scores.count - 1], now: end)
            try await bench.run()
            try await bench.phone("ann", "phone", 1)
            try await bench.fcmDevice("ann", "android", 2)
            bench.clock.advance(.seconds(3600))
            try await bench.follow("ann")
            let expiring: Query = "SELECT count(*) FROM follows JOIN activeMatches m USING (matchId) WHERE follows.expiresAt = m.expiresAt"
            #expect(try await bench.count(expiring) == 1)
            let statuses = try await StartStatusStore(pool: bench.pool).statuses(of: "ann", now: bench.now)
            #expect(statuses.map(\.state) == [.ended, .ended])
            #expect(statuses.allSatisfy { $0.reason == .matchEnd && $0.since == end })
        }
    }
}
