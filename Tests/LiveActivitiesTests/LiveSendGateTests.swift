import Delivery
import Postgres
import Providers
import PushContract
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("Refused credentials, quotas and token limiters")
struct LiveSendGateTests {
    private func updates(_ bench: LiveBench) -> Int { bench.apns.calls("update").count }

    @Test("a refused credential blocks everything of its app: one probe now and then, and all continues when it is accepted")
    func hold() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...6 { try await bench.running("user\(number)", "phone\(number)", number) }
            bench.apns.forget()
            for number in 1...6 { bench.apns.answer(LiveBench.updateToken(number), .apns(403, "InvalidProviderToken")) }
            try await bench.score(runs: 2)
            try await bench.run()
            let refused = updates(bench)
            #expect(refused >= 1 && refused <= 6)
            #expect(
                try await bench.count("SELECT count(*) FROM pushCircuits WHERE closedAt IS NULL AND cause = 'InvalidProviderToken'") == 1
            )
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = clock_timestamp() + interval '1 hour'")
            // Further states, starts and ends wait; nothing leaves, and nothing is written.
            let rows = try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE eventType = 'send'")
            try await bench.phone("eve", "tablet", 7)
            try await bench.follow("eve")
            bench.clock.advance(.seconds(61))
            try await bench.score(runs: 3)
            try await bench.run()
            #expect(updates(bench) == refused && bench.apns.calls("start").isEmpty)
            #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE eventType = 'send'") == rows)
            #expect(try await bench.count("SELECT count(*) FROM pushScheduled WHERE circuitId IS NOT NULL") == 1, "the start")
            // Its turn has come: one try, which is taken; then all of it.
            for number in 1...6 { bench.apns.clearAnswers(LiveBench.updateToken(number)) }
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = clock_timestamp() - interval '1 second'")
            bench.clock.advance(.seconds(3600))
            try await bench.run()
            #expect(try await bench.count("SELECT count(*) FROM pushCircuits WHERE closedAt IS NULL") == 0)
            bench.clock.advance(.seconds(61))
            try await bench.run()
            #expect(Set(bench.apns.calls("update").filter { $0.contentState.contains(#""runs":3"#) }.map(\.token)).count == 6)
            #expect(bench.apns.calls("start").count == 1)
        }
    }

    @Test("a circuit that blocks updates alone is left open by the send queue, and its probe is an update")
    func updatesAlone() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.apns.answer(LiveBench.updateToken(1), .apns(403, "InvalidProviderToken"), .apns(403, "InvalidProviderToken"))
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(updates(bench) == 1)
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = clock_timestamp() + interval '1 hour'")
            // The update learns that it is blocked.
            bench.clock.advance(.seconds(61))
            try await bench.score(runs: 3)
            try await bench.run()
            try await bench.pool.execute("UPDATE pushCircuits SET nextProbeAt = clock_timestamp() - interval '1 second'")
            try await bench.instance.send()
            #expect(try await bench.count("SELECT count(*) FROM pushCircuits WHERE closedAt IS NULL AND probes = 0") == 1)
            #expect(updates(bench) == 1)
            bench.clock.advance(.seconds(61))
            try await bench.run()
            #expect(updates(bench) == 2)
            #expect(try await bench.count("SELECT count(*) FROM pushCircuits WHERE closedAt IS NULL AND probes = 1 AND refusals = 2") == 1)
            #expect(try await bench.count("SELECT count(*) FROM pushCircuits") == 1)
        }
    }

    @Test("Live Activities observe a circuit that other sends opened: no push tries its credential")
    func othersUseSubjects() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            try await bench.pool.execute(
                """
                INSERT INTO pushCircuits
                    (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals, nextProbeAt)
                VALUES ('refused', 'apns', 'com.example.app', 'production', '', '', 'unnamed', 'ExpiredProviderToken', now(), now(), 1, now() + interval '1 hour')
                """
            )
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
            #expect(try await bench.engine.stores.sends.closeCircuit(1, recording: .test("test")))
            bench.clock.advance(.seconds(60))
            try await bench.run()
            #expect(updates(bench) == 1)
        }
    }

    @Test("a topic that is refused for Live Activities blocks nothing else of the app")
    func topic() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.answer(LiveBench.updateToken(1), .apns(400, "TopicDisallowed"))
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(try await bench.count("SELECT count(*) FROM pushCircuits") == 0)
        }
    }

    @Test("a provider that asks for fewer requests pauses all of the app's")
    func pause() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...3 { try await bench.running("user\(number)", "phone\(number)", number) }
            bench.apns.forget()
            var wait = PushOutcome.apns(429, "Throttled")
            wait.retryAfter = .seconds(120)
            bench.apns.answer(LiveBench.updateToken(1), wait)
            try await bench.score(runs: 2)
            try await bench.run()
            let before = updates(bench)
            #expect(
                try await bench.count("SELECT count(*) FROM pushRateLimitPauses WHERE provider = 'apns' AND app = 'com.example.app'") == 1
            )
            try await bench.score(runs: 3)
            bench.clock.advance(.seconds(30))
            try await bench.run()
            #expect(updates(bench) == before, "nobody is sent to")
            bench.clock.advance(.seconds(120))
            try await bench.run()
            #expect(Set(bench.apns.calls("update").filter { $0.contentState.contains(#""runs":3"#) }.map(\.token)).count == 3)
        }
    }

    @Test("when far more update tokens are refused than ever die at once, no activity is given up: the limiter opens, and a person decides")
    func limiter() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...30 { try await bench.running("user\(number)", "phone\(number)", number) }
            for number in 1...30 { bench.apns.answer(LiveBench.updateToken(number), .apns(410, "Unregistered")) }
            try await bench.score(runs: 2)
            try await bench.run(all: false)
            let open = try await bench.engine.stores.sends.deactivationLimiters.open()
            #expect(open.count == 1 && open.first?.scope.credential == "unnamed (update tokens)")
            let ended = try await bench.count("SELECT count(*) FROM liveActivities WHERE endReason = 'token_invalid'")
            #expect(ended < 30, "\(ended) of 30 ended before the limiter opened")
            let active = try await bench.count("SELECT count(*) FROM liveActivities WHERE status = 'active'")
            #expect(active == 30 - ended)
            let deactivated = try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE status = 'deactivated'")
            #expect(deactivated == ended)
            // Those that were withheld rest; then, as the tokens were good all the time, they are sent the newest state.
            bench.clock.advance(DeviceTokens.suspectPeriod + .seconds(1))
            try await bench.score(runs: 3)
            try await bench.run()
            let newest = try await bench.count(
                "SELECT count(*) FROM liveActivities a JOIN activeMatches m USING (matchId) WHERE a.status = 'active' AND a.lastTimestampSent = m.stateTimestamp"
            )
            #expect(newest >= active)
        }
    }

    @Test("the same for start tokens: none is forgotten while the limiter is open")
    func startTokenLimiter() async throws {
        try await LiveBench.with { bench in
            for number in 1...30 {
                try await bench.phone("user\(number)", "phone\(number)", number)
                try await bench.follow("user\(number)")
                bench.apns.answer(LiveBench.startToken(number), .apns(410, "Unregistered"))
            }
            try await bench.score(runs: 1)
            try await bench.run(all: true)
            let open = try await bench.engine.stores.sends.deactivationLimiters.open()
            #expect(open.map(\.scope.credential) == ["unnamed (start tokens)"])
            let forgotten = try await bench.count("SELECT count(*) FROM devices WHERE pushToStartToken IS NULL")
            let aside = try await bench.count("SELECT count(*) FROM devices WHERE pushToStartTokenState = 'suspect'")
            #expect(forgotten < 30 && forgotten + aside == 30)
        }
    }
}
