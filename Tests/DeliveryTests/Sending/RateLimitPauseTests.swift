import Delivery
import Postgres
import Providers
import PushContract
import Testing

@Suite("Pausing a queue")
struct PauseTests {
    static let now = Timestamp(seconds: 1_770_000_000)
    static let delays = RetryDelays()

    static func request(_ retryAfter: Duration? = nil) -> RateLimitRequest {
        RateLimitRequest(provider: .fcm, app: "a", cause: "QUOTA_EXCEEDED", retryAfter: retryAfter)
    }

    static func pause(endsIn wait: Duration, number: Int = 1) -> RateLimitPause {
        RateLimitPause(provider: .fcm, app: "a", cause: "QUOTA_EXCEEDED", since: now - .seconds(60), until: now + wait, number: number)
    }

    @Test(
        "429 pauses the queues of the app, but not one of Apple's sandbox, which says nothing of production; FCM has one quota",
        arguments: [(Provider.apns, PushEnvironment.production, true), (.apns, .sandbox, false), (.fcm, .sandbox, true)]
    )
    func environments(provider: Provider, environment: PushEnvironment, pauses: Bool) {
        let scope = PushScope(provider: provider, app: "a", environment: environment, platform: .ios)
        let outcome = provider == .apns ? PushOutcome.apns(429, "TooManyProviderTokenUpdates") : .fcm(429, "QUOTA_EXCEEDED")
        #expect((RateLimitDecision.request(scope, after: outcome) != nil) == pauses)
    }

    @Test(
        "the wait: the provider's minimum, what it asks for, and longer each time it comes back at once",
        arguments: [
            (RateLimitRequest?.none, RateLimitPause?.none, 60, 1),
            (request(.seconds(10)), nil, 60, 1),
            (request(.seconds(300)), nil, 300, 1),
            // Those under way when the pause began do not make it longer.
            (nil, pause(endsIn: .seconds(30)), 30, 1),
            (request(.seconds(90)), pause(endsIn: .seconds(30)), 90, 1),
            (nil, pause(endsIn: .seconds(-5)), 120, 2),
            (nil, pause(endsIn: .seconds(-5), number: 4), 900, 5),
            // Longer than 15 minutes: shown, not obeyed.
            (request(.seconds(2000)), pause(endsIn: .seconds(-5), number: 4), 900, 5),
            (request(.seconds(86_400)), nil, 900, 1),
            (request(.seconds(86_400)), pause(endsIn: .seconds(30)), 900, 1),
            (nil, pause(endsIn: .seconds(-3600), number: 4), 60, 1),
        ] as [(RateLimitRequest?, RateLimitPause?, Int, Int)]
    )
    func wait(request: RateLimitRequest?, current: RateLimitPause?, seconds: Int, number: Int) {
        let next = RateLimitDecision.next(request ?? Self.request(), after: current, delays: Self.delays, now: Self.now)
        #expect(next.until == Self.now + .seconds(seconds))
        #expect(next.number == number)
    }

    @Test(
        "after a pause a queue begins slowly",
        arguments: [(1, 0), (0, 1), (-1, 8), (-30, 250), (-59, 491), (-60, 500), (-4000, 500)]
    )
    func ramp(endsIn: Int, slots: Int) {
        let pause = Self.pause(endsIn: .seconds(endsIn))
        #expect(RateLimitDecision.slots(pause, capacity: 500, ramp: .seconds(60), now: Self.now) == slots)
        #expect(RateLimitDecision.slots(nil, capacity: 500, ramp: .seconds(60), now: Self.now) == 500)
    }

    private func sends(_ count: Int, app: String = "a", from first: Int = 0) -> String {
        let items = (first..<first + count).map {
            #"{"sendId": "\#(app)\#(100 + $0)", "token": "fcm-\#($0)", "provider": "fcm", "app": "\#(app)", "title": "t"}"#
        }
        return "[" + items.joined(separator: ",") + "]"
    }

    @Test("429 with Retry-After: nothing more of the app is claimed by any instance until then, other apps go on, nothing is lost")
    func throttled() async throws {
        try await SendingBench.with { bench in
            try await bench.enqueue(sends(10))
            let sender = ScriptedProvider(["fcm-0": [.fcm(429, "QUOTA_EXCEEDED", retryAfter: .seconds(90))]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                $0.delays = RetryDelays()
            }
            #expect(sender.calls.count == 1)
            let pause = try #require(try await bench.store.backlog().pauses.first)
            #expect(pause.cause == "QUOTA_EXCEEDED")
            #expect(pause.until >= Timestamp.now() + .seconds(80))
            // Another instance knows it, too.
            let other = ScriptedProvider()
            try await bench.enqueue(sends(3, app: "b", from: 100))
            try await bench.dispatch(other) { $0.delays = RetryDelays() }
            #expect(other.calls.count == 3 && other.calls.allSatisfy { $0.app == "b" })

            try await bench.pool.execute("UPDATE pushRateLimitPauses SET pausedUntil = pausedUntil - interval '10 minutes'")
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            try await bench.dispatch(other) { $0.delays = RetryDelays() }
            #expect(other.calls.count == 13)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("503 with Retry-After delays that push for as long, and no other")
    func oneFailure() async throws {
        try await SendingBench.with { bench in
            try await bench.enqueue(sends(3))
            let sender = ScriptedProvider(["fcm-0": [.fcm(503, "UNAVAILABLE", retryAfter: .seconds(90))]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                $0.delays = .quick(.zero)
            }
            #expect(sender.calls.count == 3)
            #expect(try await bench.store.pauses().isEmpty)
            let waits = try await bench.pool.query("SELECT runAt > now() + interval '80 seconds' FROM pushScheduled")
            #expect(try waits.map { try $0.decode(Bool.self) } == [true])
        }
    }

    @Test("APNs' TooManyRequests is about one device: the others go on")
    func oneDevice() async throws {
        try await SendingBench.with { bench in
            for number in 1...3 {
                try await bench.enqueue(#"{"token": "\#(SendingBench.token(number))", "provider": "apns", "app": "a", "title": "t"}"#)
            }
            let sender = ScriptedProvider([SendingBench.token(1): [.apns(429, "TooManyRequests", retryAfter: .seconds(20))]])
            try await bench.dispatch(sender) {
                $0.claimLimit = 1
                $0.delays = RetryDelays()
            }
            #expect(sender.calls.count == 3)
            #expect(try await bench.store.pauses().isEmpty)
            #expect(try await bench.store.backlog().retrying == 1)
        }
    }
}
