import Attempts
import Postgres
import Providers
import PushContract
import Testing

@testable import Delivery
@testable import LiveActivities

@Suite("Starts and ends in the send queue")
struct QueuedPushTests {
    private static let attempts =
        "SELECT count(*) FROM notificationDeliveryAttempts WHERE eventType = 'send' AND pushType = 'liveactivity'" as Query

    @Test("a start survives the death of the instance that put it into the queue: another sends it, once")
    func survives() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            let doomed = bench.another(owner: "doomed")
            #expect(try await doomed.engine.turn(all: true).pushes.isEmpty)
            #expect(bench.apns.calls.isEmpty)
            try await bench.pool.execute("UPDATE activeMatches SET leaseUntil = clock_timestamp()")
            for _ in 1...3 { try await bench.run() }
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(1)])
            #expect(try await bench.count(Self.attempts) == 1)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome = 'accepted'") == 1)
        }
    }

    @Test("an open circuit blocks a start in the queue, which is sent once when it closes")
    func circuit() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            bench.apns.answer(LiveBench.startToken(1), .apns(403, "InvalidProviderToken"))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1)
            #expect(try await bench.count("SELECT count(*) FROM pushScheduled WHERE circuitId IS NOT NULL") == 1)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome IS NULL") == 1)
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = clock_timestamp() + interval '1 hour'")
            bench.clock.advance(.seconds(60))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1, "nothing leaves before the probe")
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = clock_timestamp()")
            try await bench.run()
            try await bench.run()
            #expect(bench.apns.calls("start").count == 2)
            #expect(try await bench.count("SELECT count(*) FROM pushCircuits WHERE closedAt IS NULL") == 0)
            #expect(try await bench.count(Self.attempts) == 2)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome = 'accepted'") == 1)
        }
    }

    @Test("an end is retried by the queue, each time later than anything the device was sent")
    func endRetried() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.apns.answer(LiveBench.updateToken(1), .apns(503, "ServiceUnavailable"))
            try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
            #expect(try await bench.count("SELECT count(*) FROM pushDeliveries WHERE kind = 'liveEnd' AND sendId IS NULL") == 1)
            try await bench.instance.send()
            #expect(bench.apns.calls("end").count == 1)
            #expect(try await bench.count("SELECT count(*) FROM pushScheduled WHERE reasonCode = 'provider_5xx'") == 1)
            bench.clock.advance(.seconds(60))
            try await bench.instance.send()
            #expect(bench.apns.calls("end").count == 2)
            #expect(Set(bench.apns.calls("end").map(\.attemptId)).count == 1, "a second one is known as such")
            #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE requestId = 'live-end:m1'") == 2)
            bench.clock.advance(.seconds(3600))
            try await bench.run()
            #expect(bench.apns.calls("end").count == 2)
        }
    }

    @Test("a start whose activity ended while it was in the queue is not sent, and does not count")
    func endedMeanwhile() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.score(runs: 1)
            for _ in 1...4 {
                try await bench.follow("ann")
                _ = try await bench.engine.turn(all: true)
                try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
                try await bench.instance.send()
                bench.clock.advance(.seconds(1))
            }
            #expect(bench.apns.calls.isEmpty)
            #expect(try await bench.count(Self.attempts) == 0)
            #expect(try await bench.count("SELECT count(*) FROM activityStarts WHERE outcome = 'notSent'") == 4)
            #expect(try await bench.count("SELECT count(*) FROM pushFinished WHERE outcome = 'cancelled' AND attempts = 0") == 4)
            try await bench.follow("ann")
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1, "the budget is untouched")
        }
    }

    @Test("a start goes to the token that the device has when it is sent, with the state of that moment")
    func newest() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("bob", "phone-bob", 2)
            for user in ["ann", "bob"] { try await bench.follow(user) }
            try await bench.score(runs: 1)
            _ = try await bench.engine.turn(all: true)
            try await BenchParts.giveStartToken(LiveBench.startToken(3), "ann", "phone", bench)
            try await bench.score(runs: 2)
            try await bench.instance.send()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2)], "the other one is of no use any more")
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(2), LiveBench.startToken(3)])
            #expect(bench.apns.calls("start").allSatisfy { $0.contentState.contains(#""runs":2"#) })
        }
    }

    @Test("a start that expired in the queue is made anew, while its match goes on")
    func expired() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            _ = try await bench.engine.turn(all: true)
            try await bench.pool.execute("UPDATE pushDeliveries SET expiresAt = clock_timestamp()")
            try await bench.instance.send()
            #expect(bench.apns.calls.isEmpty)
            #expect(try await bench.count("SELECT count(*) FROM pushDead WHERE outcome = 'expired'") == 1)
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1)
            let letters = try await bench.instance.sends.deadLetters(
                DeadLetterFilter(since: bench.now - .seconds(3600), until: bench.now + .seconds(3600))
            )
            #expect(letters.isEmpty, "nobody has to retry it")
        }
    }

    @Test("the outcome of a start decides what is recorded, and when the activity is started again")
    func decisions() {
        func decide(_ attempt: PushOutcome?, _ next: DeliveryNext) -> StartDecision? { StartDecision.after(attempt, next) }
        let gone = PushOutcome.apns(410, "Unregistered")
        let busy = PushOutcome.apns(503, "ServiceUnavailable")
        let malformed = PushOutcome.apns(400, "BadPriority")
        #expect(decide(busy, .retry(at: .now(), after: .provider5xx)) == nil)
        #expect(decide(nil, .blocked(.open(1), after: nil)) == nil)
        #expect(decide(nil, .cancelled) == StartDecision(record: .notSent, next: .now))
        #expect(decide(nil, .dead(.expired, reason: nil, providerErrorCode: nil)) == StartDecision(record: .notSent, next: .now))
        #expect(decide(nil, .dead(.unreachable, reason: nil, providerErrorCode: nil)) == StartDecision(record: .notSent, next: .never))
        #expect(
            decide(.unanswered, .dead(.failed, reason: nil, providerErrorCode: nil)) == StartDecision(record: .unknown, next: .afterGrace)
        )
        #expect(decide(gone, .dead(.failed, reason: nil, providerErrorCode: nil)) == StartDecision(record: .rejected, next: .now))
        #expect(decide(malformed, .dead(.failed, reason: nil, providerErrorCode: nil)) == StartDecision(record: .rejected, next: .never))
        #expect(decide(busy, .dead(.expired, reason: nil, providerErrorCode: nil)) == StartDecision(record: .rejected, next: .now))
    }
}
