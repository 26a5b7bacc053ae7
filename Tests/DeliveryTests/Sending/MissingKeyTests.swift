import Logging
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Delivery

@Suite("Deliveries to tokens that cannot be decrypted")
struct MissingKeyTests {
    @Test("without their key they wait, with one error in the log, and a process that has it sends them")
    func waits() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.register("ann", "tablet", token: SendingBench.token(2))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let sender = ScriptedProvider()
            let log = RecordingLog { $0.level >= .error }
            try await bench.withKeys(.random(id: "k2")).dispatcher(sender.lookup, logger: log.logger).runUntilIdle()
            #expect(sender.calls.isEmpty && log.events.count == 1)
            #expect("\(log.events.first?.metadata?["error"] ?? "")".contains("the key k1, which"))
            #expect(try await bench.count("pushScheduled WHERE attemptNumber = 1 AND runAt > clock_timestamp()") == 2)
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = clock_timestamp() - interval '1 second'")
            try await bench.dispatch(sender)
            #expect(try await bench.status(of: "s1") == [.sent, .sent])
        }
    }

    @Test("they wait until they expire, and not longer")
    func expires() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let delivery = try #require(try await bench.withKeys(.random(id: "k2")).claim().first)
            let end = delivery.expiresAt
            guard case .end(let waiting) = Preflight.decide(delivery, now: end - .seconds(1)) else { return #expect(Bool(false)) }
            #expect(waiting == .retry(at: end, after: .unknown))
            guard case .end(let ended) = Preflight.decide(delivery, now: end) else { return #expect(Bool(false)) }
            #expect(ended == .dead(.expired, reason: nil, providerErrorCode: nil))
        }
    }

    @Test("a token that is damaged ends its delivery as unreachable, with an error in the log")
    func damaged() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let log = RecordingLog { $0.level >= .error }
            // Another key of the same id.
            let other = bench.withKeys(.random(id: "k1"))
            try await other.dispatcher(ScriptedProvider().lookup, logger: log.logger).runUntilIdle()
            #expect(try await bench.count("pushDead WHERE outcome = 'unreachable' AND providerErrorCode = 'TokenUnreadable'") == 1)
            #expect(log.events.count == 1)
        }
    }
}
