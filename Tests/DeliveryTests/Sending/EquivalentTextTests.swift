import HTTPServer
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Delivery

/// U+212A, the Kelvin sign, is canonically equivalent to the letter K: Swift takes both names for equal, PostgreSQL does not.
@Suite("Uids and apps that Unicode takes for the same text")
struct EquivalentTextTests {
    private let letter = "Kim"
    private let sign = "\u{212A}im"

    @Test("a send goes to the devices of its own uid, and to none of a uid that Unicode takes for the same text")
    func sends() async throws {
        try await SendingBench.with { bench in
            try await bench.register(letter, "letters", token: SendingBench.token(1))
            try await bench.register(sign, "signs", token: SendingBench.token(2))
            try await bench.enqueue(
                #"[{"sendId": "s1", "uid": "\#(sign)", "title": "Goal"}, {"sendId": "s2", "uid": "\#(letter)", "title": "Goal"}]"#
            )
            #expect(try await bench.send("s1").deliveries.map(\.deviceId) == ["signs"])
            #expect(try await bench.send("s2").deliveries.map(\.deviceId) == ["letters"])
        }
    }

    @Test("a send to a device and its user does not follow the device to a uid that Unicode takes for the same text")
    func device() async throws {
        try await SendingBench.with { bench in
            try await bench.register(letter, "phone", token: SendingBench.token(1))
            try await bench.register(sign, "phone", token: SendingBench.token(2))
            let receipt = try await bench.enqueue(#"{"deviceId": "phone", "uid": "\#(letter)", "title": "Goal"}"#)[0]
            guard case .refused(let problem) = receipt else { return #expect(Bool(false), "\(receipt)") }
            #expect(problem.code == "no_active_device")
        }
    }

    @Test("sends to apps that Unicode takes for the same text wait in queues of their own")
    func queues() async throws {
        try await SendingBench.with { bench in
            try await bench.register("a", "letters", token: SendingBench.token(1), app: letter)
            try await bench.register("b", "signs", token: SendingBench.token(2), app: sign)
            try await bench.enqueue(#"[{"sendId": "s1", "uid": "a", "title": "Goal"}, {"sendId": "s2", "uid": "b", "title": "Goal"}]"#)
            let rows = try await bench.pool.query("SELECT uid, app FROM pushDeliveries JOIN pushQueues USING (queue) ORDER BY uid")
            let apps = try rows.map { try $0.decode((String, String).self) }
            #expect(apps.map { Array($0.1.utf8) } == [Array(letter.utf8), Array(sign.utf8)], "\(apps)")
        }
    }

    @Test("a circuit, a pause, a throttle and an acceptance of one app are none of an app that Unicode takes for the same text")
    func scopes() {
        let now = Timestamp(seconds: 1_800_000_000)
        func queue(_ app: String) -> SendQueue { SendQueue(id: 1, app: app, provider: .apns, deliveryClass: .normal) }
        let circuit = CircuitScope(provider: .apns, app: sign, environment: .production, credential: "key")
        #expect(circuit.covers(queue(sign).scope) && !circuit.covers(queue(letter).scope))
        let pause = RateLimitPause(provider: .apns, app: sign, cause: "TooManyRequests", since: now, until: now, number: 1)
        #expect(pause.applies(to: queue(sign)) && !pause.applies(to: queue(letter)))
        let throttle = SendThrottle(
            provider: .apns,
            app: sign,
            perMinute: 1,
            reason: "flood",
            author: "ana",
            createdAt: now,
            expiresAt: now
        )
        #expect(throttle.applies(to: queue(sign)) && !throttle.applies(to: queue(letter)))
        var evidence = GateEvidence()
        evidence.accept(GateEvidence.Key(scope: queue(sign).scope, credential: "key"), operationKey: "1", at: now)
        let refused = GateEvidence.Key(scope: queue(letter).scope, credential: "key")
        let verdict = evidence.assess(refusedBy: .platform, refused, operationKey: "2", at: now)
        #expect(verdict == .scope(unlessAcceptedSince: now - GateEvidence.contradiction))
    }

    @Test("an audience has both, and neither takes the other's place")
    func audience() async throws {
        try await SendingBench.with { bench in
            _ = try await AudienceStore(pool: bench.pool).change(.replace, "all", uids: [sign, letter], recording: .test())
            #expect(try await bench.count("audienceMembers") == 2)
        }
    }
}
