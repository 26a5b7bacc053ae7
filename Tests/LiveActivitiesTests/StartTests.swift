import HTTPServer
import Postgres
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("Starts")
struct StartTests {
    @Test("L-01: a follow of a live match and a match going live both start an activity, and both take the same token")
    func twoTriggers() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("bob", "phone-bob", 2)
            // Bob follows before the match, Ann while it is on.
            try await bench.follow("bob")
            try await bench.score(phase: "scheduled", runs: 0)
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
            // Without a cycle, which would find whoever lacks an activity: each trigger makes it by itself.
            try await bench.score(runs: 1)
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2)])
            try await bench.follow("ann")
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2), LiveBench.startToken(1)])
            #expect(try await bench.postToken("bob", "phone-bob", 2) == .adopt(1, replacing: nil))
            #expect(try await bench.postToken("ann", "phone", 1) == .adopt(1, replacing: nil))
            #expect(try await bench.states("ann") == ["active"])
            #expect(try await bench.states("bob", "phone-bob") == ["active"])
        }
    }

    @Test("L-02, L-03: a pushed change is acted on at once, and the cycle comes round every 30 seconds")
    func cycle() async throws {
        try await LiveBench.with { bench in
            #expect(bench.engine.configuration.cycle == .seconds(30))
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.follow("bob")
            try await bench.score(phase: "scheduled", runs: 0)
            try await bench.run()
            try await bench.phone("ann", "phone", 1)
            try await bench.score(runs: 0)
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2)])
            bench.apns.forget()
            // Written behind the routes' back, as by an import: only the cycle can find it.
            try await bench.pool.execute("INSERT INTO follows (userId, matchId, followedAt) VALUES ('ann', 'm1', \(bench.now))")
            bench.clock.advance(.seconds(29))
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").isEmpty)
            bench.clock.advance(.seconds(1))
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").count == 1)
            #expect(bench.engine.configuration.poll == .milliseconds(250))
        }
    }

    @Test("P-3.2, P-4.1, P-4.5: a start goes to the start token, with event, attributes, timestamp and alert inside aps")
    func startPayload() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            try await bench.run()
            let start = try #require(bench.apns.calls("start").first)
            #expect(start.token == LiveBench.startToken(1))
            #expect(start.aps.text("attributes-type") == "MatchActivityAttributes")
            #expect(start.aps["attributes"]?.text == #"{"instance":1,"matchId":"m1","title":"RR v KKR"}"#)
            #expect(start.aps.integer("input-push-token") == 1)
            #expect(start.aps["alert"]?.text == #"{"body":"RR need runs","sound":"default","title":"RR v KKR"}"#)
            #expect(abs(start.timestamp - bench.now.seconds) <= 1)
            #expect(start.message.pushType == .liveactivity && start.message.priority == .high)
            #expect(start.message.collapseId == LivePayloads.collapseId("m1", instance: 1))
            let expiry = try #require(start.message.expiresAt)
            #expect(expiry - bench.now == .seconds(600))
        }
    }

    @Test("L-16: every device of a user gets its own activity")
    func severalDevices() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.follow("ann", from: "phone")
            try await bench.score(runs: 1)
            try await bench.run()
            #expect(Set(bench.apns.calls("start").map(\.token)) == [LiveBench.startToken(1), LiveBench.startToken(2)])
            try await bench.postToken("ann", "phone", 1)
            try await bench.postToken("ann", "tablet", 2)
            bench.apns.forget()
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(Set(bench.apns.calls("update").map(\.token)) == [LiveBench.updateToken(1), LiveBench.updateToken(2)])
            // One that comes while the others have theirs.
            try await bench.phone("ann", "third", 3)
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(3)])
        }
    }

    @Test("L-27: a device without a start token leaves its follow alone and gets no row")
    func withoutPermission() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1, startToken: false)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            try await bench.run()
            #expect(bench.apns.calls("start").isEmpty)
            #expect(try await bench.states() == [])
            #expect(try await bench.follows.follows(of: "ann", now: bench.now) == ["m1"])
        }
    }

    @Test("a start that was accepted and brought no token has its grace, then one more, then none")
    func grace() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            try await bench.run()
            bench.clock.advance(.seconds(599))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1)
            bench.clock.advance(.seconds(1))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 2)
            bench.clock.advance(.seconds(7200))
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls("start").count == 2)
            #expect(bench.apns.calls("update").isEmpty)
            // The person opens the app at last: the activity is adopted.
            #expect(try await bench.postToken("ann", "phone", 1) == .adopt(1, replacing: nil))
        }
    }

    @Test("F-13: nobody knows what became of a start: the claim is kept until its grace is over")
    func ambiguous() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            bench.apns.answer(LiveBench.startToken(1), .unanswered)
            try await bench.run()
            bench.clock.advance(.seconds(300))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome = 'unknown'") == 1)
        }
    }

    @Test("a start that the provider refuses for now is retried by the queue: one start, with a row for each attempt")
    func retried() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            for _ in 0..<3 { bench.apns.answer(LiveBench.startToken(1), .apns(503, "ServiceUnavailable")) }
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome IS NULL") == 1)
            for _ in 0..<4 {
                bench.clock.advance(.seconds(60))
                try await bench.run()
            }
            #expect(bench.apns.calls("start").count == 4)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome = 'accepted'") == 1)
            #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE requestId = 'live-start:m1'") == 4)
            #expect(try await bench.count("SELECT startsDelivered FROM liveActivities") == 1)
            // The next one goes on with the attempts of this activity.
            bench.clock.advance(.seconds(600))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 5)
            #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE requestId = 'live-start:m1'") == 5)
            #expect(Set(bench.apns.calls("start").map(\.attemptId)).count == 5)
        }
    }

    @Test("a device gets three starts an hour at most, whatever it follows")
    func deviceBudget() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            for number in 1...5 {
                try await bench.follow("ann", "m\(number)")
                try await bench.score("m\(number)", runs: 1)
            }
            try await bench.run()
            #expect(bench.apns.calls("start").count == 3)
            bench.clock.advance(.seconds(3601))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 6)
        }
    }

    @Test("L-04: a process that dies with its starts claimed sends none twice; the next makes what is missing")
    func recovery() async throws {
        try await LiveBench.with { bench in
            for number in 1...20 {
                try await bench.phone("user\(number)", "phone\(number)", number)
                try await bench.follow("user\(number)")
            }
            try await bench.score(runs: 1)
            // It claims, and dies before anything is sent or written.
            let doomed = bench.another(owner: "doomed")
            #expect(try await doomed.engine.turn(all: true).pushes.isEmpty)
            #expect(try await doomed.claim(8).count == 8)
            try await bench.pool.execute("UPDATE activeMatches SET leaseUntil = clock_timestamp()")
            for number in 21...25 {
                try await bench.phone("user\(number)", "phone\(number)", number)
                try await bench.pool.execute(
                    "INSERT INTO follows (userId, matchId, followedAt) VALUES (\("user\(number)"), 'm1', \(bench.now))"
                )
            }
            try await bench.run()
            #expect(bench.apns.calls("start").count == 17)
            #expect(Set(bench.apns.calls("start").map(\.token)).count == 17)
            #expect(try await bench.count("SELECT count(*) FROM liveActivities") == 25)
            // What was claimed and lost is known as such, once, and comes round after its grace.
            try await bench.pool.execute("UPDATE pushLeases SET leaseUntil = clock_timestamp() WHERE worker = 'doomed'")
            try await bench.run()
            try await bench.run()
            #expect(bench.apns.calls("start").count == 17)
            #expect(
                try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE providerErrorCode = 'OutcomeUnknown'") == 8
            )
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome = 'unknown'") == 8)
            bench.clock.advance(.seconds(601))
            try await bench.run()
            #expect(Set(bench.apns.calls("start").map(\.token)).count == 25)
        }
    }

    @Test("starts are released in the order of the devices' hashes, at the rate that is set")
    func herd() async throws {
        try await LiveBench.with {
            $0.policy.perSecond = 10
        } _: { bench in
            for number in 1...25 {
                try await bench.phone("user\(number)", "phone\(number)", number)
                try await bench.follow("user\(number)")
            }
            try await bench.score(runs: 1)
            try await bench.run()
            #expect(bench.apns.calls("start").count == 10)
            bench.clock.advance(.seconds(1))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 20)
            bench.clock.advance(.seconds(1))
            try await bench.run()
            let order = try await bench.pool.query(
                "SELECT d.pushToStartTokenHash FROM liveActivities a JOIN devices d USING (userId, deviceId) ORDER BY a.startOrder"
            ).map { try $0.decode(String.self) }
            // Within one second's batch they go side by side.
            let sent = try bench.apns.calls("start").map { try TokenHash.apns($0.token).rawValue }
            for batch in [0..<10, 10..<20, 20..<25] { #expect(Set(sent[batch]) == Set(order[batch])) }
        }
    }

    @Test("A1: every start leaves its attempt row, with the start token's hash; a 410 takes the token from its device")
    func attempts() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            try await bench.run()
            let rows = try await bench.pool.query(
                "SELECT tokenHash, status, pushType FROM notificationDeliveryAttempts WHERE eventType = 'send'"
            ).map { try $0.decode((String, String, String).self) }
            let hash = try TokenHash.apns(LiveBench.startToken(1)).rawValue
            #expect(rows.count == 1)
            #expect(rows.first?.0 == hash && rows.first?.1 == "sent" && rows.first?.2 == "liveactivity")
            bench.apns.answer(LiveBench.startToken(2), .apns(410, "Unregistered"))
            try await bench.phone("bob", "phone-bob", 2)
            try await bench.follow("bob")
            try await bench.run()
            #expect(try await bench.count("SELECT count(*) FROM devices WHERE pushToStartToken IS NULL") == 1)
        }
    }
}
