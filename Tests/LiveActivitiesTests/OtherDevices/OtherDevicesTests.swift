import Cricket
import Delivery
import Postgres
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("Followers' devices without Live Activities")
struct OtherDevicesTests {
    private static let wicket = (name: "wicket", priority: 2)

    /// Ann has an iPhone with the card, an Android device and a browser; Bob an iPhone that cannot be started. Play has begun.
    private func playing(_ bench: LiveBench) async throws {
        try await bench.phone("ann", "phone", 1)
        try await bench.fcmDevice("ann", "android", 2)
        try await bench.fcmDevice("ann", "browser", 3, platform: .web)
        try await bench.phone("bob", "old", 4, startToken: false)
        for user in ["ann", "bob"] { try await bench.follow(user) }
        try await bench.score(runs: 0)
        try await bench.run()
        try await bench.postToken("ann", "phone", 1)
        try await bench.run()
        bench.clock.advance(.seconds(20))
    }

    @Test(
        "a wicket: the state with its alert to Android, an ordinary push to a browser and to an iPhone without start token, the card's update alone to the other"
    )
    func wicket() async throws {
        try await LiveBench.with { bench in
            try await playing(bench)
            #expect(bench.android(2).map { $0.data("alertTitle") } == ["RR v KKR"], "the start alerts everybody")
            bench.apns.forget()
            try await bench.score(runs: 7, event: Self.wicket, alert: "WICKET!")
            try await bench.run()

            let android = try #require(bench.android(2).first)
            #expect(bench.android(2).count == 1)
            let card = try #require(bench.apns.calls.first { $0.event == "update" })
            #expect(try JSONParser.read(Array((android.data("contentState") ?? "").utf8)).text == card.contentState, "the same state")
            #expect(android.data("alertTitle") == "WICKET!" && android.data("alertBody") == "RR v KKR")
            #expect(android.data("alertId") == android.data("timestamp") && android.data("timestamp") == "\(card.timestamp)")
            #expect(android.data("type") == "MatchActivityAttributes" && android.data("id") == "m1" && android.data("event") == "update")
            #expect(android.message.priority == .high && android.message.title == nil && android.message.body == nil)
            #expect(android.message.fcm["android"]?["collapse_key"] == .null)

            for token in [LiveBench.fcmToken(3), LiveBench.token(4)] {
                let push = try #require(bench.calls(to: token).first)
                #expect(bench.calls(to: token).count == 1)
                #expect(push.message.title == "WICKET!" && push.message.sound == "default" && push.message.collapseId?.count == 32)
                #expect(push.data("contentState") == nil && push.data("event") == "alert")
            }
            #expect(bench.calls(to: LiveBench.token(1)).isEmpty, "the iPhone with the card gets no push besides")
        }
    }

    @Test("states without an alert leave every 15 s at most, the newest; one with an alert at once; others are sent none of them")
    func coalesced() async throws {
        try await LiveBench.with { bench in
            try await playing(bench)
            bench.apns.forget()
            for runs in 1...30 {
                try await bench.score(runs: runs)
                try await bench.run(all: false)
                bench.clock.advance(.seconds(1))
            }
            let sent = bench.android(2).compactMap { $0.data("contentState") }
            #expect(sent.count == 2 && sent.last?.contains(#""runs":16"#) == true, "\(sent)")
            #expect(bench.android(2).allSatisfy { $0.message.priority == .normal && $0.data("alertId") == nil })
            #expect(bench.calls(to: LiveBench.fcmToken(3)).isEmpty && bench.calls(to: LiveBench.token(4)).isEmpty)
            bench.clock.advance(.seconds(15))
            try await bench.run(all: false)
            #expect(bench.android(2).last?.data("contentState")?.contains(#""runs":30"#) == true, "the last one is not lost")
            let before = bench.android(2).count
            for runs in 31...33 {
                try await bench.score(runs: runs, event: Self.wicket, alert: "WICKET \(runs)")
                try await bench.run(all: false)
                bench.clock.advance(.seconds(1))
            }
            #expect(bench.android(2).dropFirst(before).map { $0.data("alertTitle") } == ["WICKET 31", "WICKET 32", "WICKET 33"])
        }
    }

    @Test("an old state never leaves after a newer one, and the alert of the one that was overtaken comes with the newer")
    func newestWins() async throws {
        try await LiveBench.with { bench in
            try await playing(bench)
            bench.apns.forget()
            bench.apns.answer(LiveBench.fcmToken(2), .fcm(503, "UNAVAILABLE"))
            try await bench.score(runs: 7, event: Self.wicket, alert: "WICKET!")
            try await bench.run()
            #expect(bench.android(2).count == 1, "to be tried again")
            bench.clock.advance(.seconds(16))
            try await bench.score(runs: 8)
            try await bench.instance.engine.runUntilIdle(all: true)
            #expect(try await bench.count("SELECT count(*) FROM pushFinished WHERE outcome = 'superseded'") == 1)
            bench.clock.advance(.seconds(600))
            try await bench.instance.send()
            #expect(bench.android(2).map { $0.data("alertTitle") } == ["WICKET!", "WICKET!"])
            #expect(bench.android(2).last?.data("contentState")?.contains(#""runs":8"#) == true)
            let orders = bench.android(2).compactMap { $0.data("order").flatMap(Int64.init) }
            #expect(orders == orders.sorted() && Set(orders).count == 2)
        }
    }

    @Test("a dead token is deactivated, and the other devices get theirs")
    func deadToken() async throws {
        try await LiveBench.with { bench in
            try await playing(bench)
            bench.apns.forget()
            bench.apns.answer(LiveBench.fcmToken(2), .fcm(404, "UNREGISTERED"))
            try await bench.score(runs: 7, event: Self.wicket, alert: "WICKET!")
            try await bench.run()
            #expect(try await bench.count("SELECT count(*) FROM devices WHERE tokenState = 'inactive' AND deviceId = 'android'") == 1)
            #expect(
                try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE status = 'deactivated' AND provider = 'fcm'")
                    == 1
            )
            #expect(bench.calls(to: LiveBench.fcmToken(3)).count == 1 && bench.calls(to: LiveBench.token(4)).count == 1)
            bench.clock.advance(.seconds(20))
            try await bench.score(runs: 8)
            try await bench.run()
            #expect(bench.android(2).count == 1)
        }
    }

    @Test("a restart, and two instances at once, repeat nothing")
    func restart() async throws {
        try await LiveBench.with { bench in
            try await playing(bench)
            bench.apns.forget()
            try await bench.score(runs: 7, event: Self.wicket, alert: "WICKET!")
            try await bench.run()
            let other = bench.another(owner: "other")
            await bench.engine.release()
            try await other.runUntilIdle()
            try await bench.run()
            #expect(bench.android(2).count == 1 && bench.calls(to: LiveBench.fcmToken(3)).count == 1)
            // Both believe that they lease it.
            try await bench.score(runs: 9, event: Self.wicket, alert: "WICKET again")
            let store = OtherDevicesStore(pool: bench.pool)
            let now = bench.now
            async let one = store.send("m1", owner: "other", newcomersSince: nil, check: { _, _ in nil }, now: now)
            async let two = store.send("m1", owner: "other", newcomersSince: nil, check: { _, _ in nil }, now: now)
            let deliveries = try await [one, two].compactMap { $0?.deliveries }
            #expect(deliveries.sorted() == [0, 3])
            #expect(try await store.send("m1", owner: "a third", newcomersSince: nil, check: { _, _ in nil }, now: now) == nil)
        }
    }

    @Test(
        "the end: Android is sent the last state and when it leaves the screen, others the result; after an unfollow that user's devices alone"
    )
    func ends() async throws {
        try await LiveBench.with { bench in
            try await playing(bench)
            try await bench.fcmDevice("cid", "android-cid", 5)
            try await bench.follow("cid")
            try await bench.run()
            bench.apns.forget()
            try await bench.follows.unfollow(userId: "cid", matchId: "m1", now: bench.now)
            try await bench.run()
            let unfollowed = try #require(bench.android(5).first)
            #expect(unfollowed.data("event") == "end" && unfollowed.data("endReason") == "user_unfollow")
            #expect(bench.android(2).isEmpty && bench.android(5).count == 1)

            bench.clock.advance(.seconds(5))
            try await bench.score(phase: "ended", runs: 99)
            try await bench.run()
            try await bench.run()
            let ended = try #require(bench.android(2).last)
            #expect(bench.android(2).count == 1 && bench.android(5).count == 1)
            #expect(ended.data("event") == "end" && ended.data("endReason") == "match_end")
            #expect(ended.data("contentState")?.contains(#""runs":99"#) == true)
            #expect(Int64(ended.data("dismissAt") ?? "") == (bench.now + LivePayloads.dismissal).seconds)
            #expect(bench.calls(to: LiveBench.fcmToken(3)).map(\.message.title) == ["RR v KKR"], "the result")
        }
    }

    @Test("a match that ends after stumps: Android and browsers get its result once; a correction goes to Android alone")
    func endAfterStumps() async throws {
        try await LiveBench.with { bench in
            try await bench.fcmDevice("ann", "android", 2)
            try await bench.fcmDevice("ann", "browser", 3, platform: .web)
            try await bench.follow("ann")
            let store = MatchStore(pool: bench.pool)
            let scores = try MatchSamples.scores()
            var (stumps, corrected) = (scores[1], scores[scores.count - 1])
            stumps.phase = .stumps
            corrected.title = "Ash Town v Birch City"
            let changes: [(score: MatchScore, android: [String?], alerts: [String?])] = [
                (scores[1], ["update"], ["AT v BC"]), (stumps, ["end"], []),
                (scores[scores.count - 1], ["end"], ["AT v BC"]), (corrected, ["end"], []),
            ]
            var dismissals: [String?] = []
            for (index, change) in changes.enumerated() {
                bench.clock.advance(.seconds(index == 2 ? 3600 : 20))
                bench.apns.forget()
                var score = change.score
                score.sequence = Int64(index + 1)
                let receipt = try await store.accept(score, now: bench.now)
                #expect(receipt.result == .accepted)
                if score.phase == .stumps { bench.clock.advance(LiveSubject.restsAfter) }
                try await bench.run()
                try await bench.run()
                #expect(bench.android(2).map { $0.data("event") } == change.android, "state \(index)")
                #expect(bench.calls(to: LiveBench.fcmToken(3)).map(\.message.title) == change.alerts, "state \(index)")
                if index >= 2 { dismissals.append(bench.android(2).last?.data("dismissAt")) }
                if index == 2 {
                    #expect(bench.android(2).map { $0.data("endReason") } == ["match_end"])
                    #expect(bench.calls(to: LiveBench.fcmToken(3)).map(\.message.body) == ["BC won by 9 wickets"])
                }
            }
            #expect(dismissals.count == 2 && dismissals[0] != nil && dismissals[0] == dismissals[1])
        }
    }

    @Test(
        "a device that is registered after its user followed is sent the newest state once, without its alert; a browser nothing",
        arguments: [SilentSource.all[0], SilentSource.all[1]]
    )
    func newDevices(_ source: SilentSource) async throws {
        try await LiveBench.with { bench in
            try await bench.fcmDevice("ann", "old", 2)
            try await bench.follow("ann", source.subject)
            try await source.send(1, bench)
            try await bench.run()
            bench.apns.forget()
            /// Some seconds pass; what the devices were sent since the last time.
            func sent(to numbers: Int...) async throws -> [Int] {
                for _ in 1...4 {
                    bench.clock.advance(.seconds(3))
                    try await bench.run(all: false)
                }
                defer { bench.apns.forget() }
                return numbers.map { bench.android($0).count }
            }
            bench.clock.advance(.seconds(20))
            try await bench.fcmDevice("ann", "new", 5)
            try await bench.fcmDevice("ann", "browser", 6, platform: .web)
            try await bench.fcmDevice("bob", "other", 7)
            try await bench.run(all: false)
            let message = try #require(bench.android(5).first)
            #expect(message.data("event") == "update" && message.data("contentState") != nil && message.data("alertId") == nil)
            #expect(try await sent(to: 2, 5, 6, 7) == [0, 1, 0, 0], "once, and to nobody else")
            // The app registers at each launch, and its token rotates.
            try await bench.fcmDevice("ann", "new", 5)
            try await bench.fcmDevice("ann", "new", 8)
            #expect(try await sent(to: 2, 5, 8) == [0, 0, 0])
            // A sign-out removes the notification.
            _ = try await bench.devices.unregister(userId: "ann", deviceId: "new", requestId: "out", now: bench.now)
            try await bench.fcmDevice("ann", "new", 8)
            #expect(try await sent(to: 2, 8) == [0, 1])
            // Bob has signed in on it meanwhile.
            try await bench.fcmDevice("bob", "new", 8)
            try await source.send(2, bench)
            #expect(try await sent(to: 2, 8) == [1, 0])
            try await bench.fcmDevice("ann", "new", 8)
            #expect(try await sent(to: 2, 8) == [0, 1])
        }
    }

    @Test("who follows later is sent the newest state without its alert; a second follow again after an unfollow as well")
    func newcomers() async throws {
        try await LiveBench.with { bench in
            try await playing(bench)
            try await bench.score(runs: 7, event: Self.wicket, alert: "WICKET!")
            try await bench.run()
            bench.apns.forget()
            try await bench.fcmDevice("cid", "android-cid", 5)
            bench.clock.advance(.seconds(3))
            try await bench.follow("cid")
            for _ in 1...4 {
                try await bench.run()
                bench.clock.advance(.seconds(3))
            }
            #expect(bench.android(5).count == 1 && bench.android(2).isEmpty)
            #expect(bench.android(5).first?.data("contentState")?.contains(#""runs":7"#) == true)
            #expect(bench.android(5).first?.data("alertId") == nil)
            try await bench.follows.unfollow(userId: "cid", matchId: "m1", now: bench.now)
            try await bench.run()
            bench.clock.advance(.seconds(3))
            try await bench.follow("cid")
            try await bench.run()
            #expect(bench.android(5).map { $0.data("event") } == ["update", "end", "update"])
        }
    }
}
