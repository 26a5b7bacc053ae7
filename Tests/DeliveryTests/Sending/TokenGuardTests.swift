import Delivery
import Postgres
import Providers
import PushContract
import TestDatabase
import Testing

@Suite("The guard against switching off many tokens at once")
struct TokenGuardTests {
    @Test(
        "what opens it",
        arguments: [
            // judged, ambiguous, gone
            (400, 20, 0, false), (400, 21, 0, true), (30, 19, 0, false), (30, 20, 0, true),
            // A provider that says "gone" is believed longer.
            (400, 0, 100, false), (400, 0, 101, true), (20, 0, 19, false), (20, 0, 20, true), (400, 15, 86, true),
            (0, 0, 0, false),
        ] as [(Int64, Int64, Int64, Bool)]
    )
    func decision(total: Int64, ambiguous: Int64, gone: Int64, opens: Bool) {
        let counts = DeactivationDecision.Counts(total: total, ambiguous: ambiguous, gone: gone)
        #expect(DeactivationDecision.opens(counts, limits: .init()) == opens)
    }

    /// Devices with these numbers, registered long enough ago for a 410 to count.
    private func register(_ bench: SendingBench, _ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            try await bench.register("u\(number)", "phone\(number)", token: SendingBench.token(number), at: .now() - .seconds(3600))
        }
    }

    /// Sends to each; what each is answered.
    private func send(_ bench: SendingBench, _ numbers: ClosedRange<Int>, _ batch: String, answer: PushOutcome?) async throws {
        let sends = numbers.map { #"{"sendId": "\#(batch)-\#($0)", "uid": "u\#($0)", "title": "Goal"}"# }
        try await bench.enqueue("[" + sends.joined(separator: ",") + "]")
        let scripts = answer.map { answer in Dictionary(uniqueKeysWithValues: numbers.map { (SendingBench.token($0), [answer]) }) }
        try await bench.dispatch(ScriptedProvider(scripts ?? [:]))
    }

    private func states(_ bench: SendingBench) async throws -> [String: Int] {
        let rows = try await bench.pool.query("SELECT tokenState, count(*) FROM devices GROUP BY 1")
        return try Dictionary(uniqueKeysWithValues: rows.map { try $0.decode((String, Int).self) })
    }

    private let gone = PushOutcome.apns(410, "Unregistered", goneAt: .now() - .seconds(60))

    @Test("a few dead tokens among many are deactivated, each with a row that says why, by which attempt, and what it was")
    func ordinary() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...60)
            try await send(bench, 1...50, "good", answer: nil)
            try await send(bench, 51...55, "dead", answer: gone)
            #expect(try await states(bench) == ["active": 55, "inactive": 5])
            #expect(try await bench.store.deactivationLimiters.open().isEmpty)
            let rows = try await bench.pool.query(
                """
                SELECT count(*) FROM tokenDeactivations t JOIN notificationDeliveryAttempts a USING (attemptId)
                WHERE t.cause = 'Unregistered' AND t.previousState = 'active' AND t.state = 'inactive' AND t.credential = 'key-1'
                  AND a.status = 'deactivated'
                """
            )
            #expect(try rows[0].decode(Int.self) == 5)
        }
    }

    @Test("tokens refused by the dozen for an ambiguous reason open the limiter; one undo restores every token")
    func undo() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...60)
            try await send(bench, 1...40, "bad", answer: .apns(400, "BadDeviceToken"))
            // Suspect from before, and rested: without the limiter the next strike would switch them off.
            try await bench.pool.execute(
                "UPDATE devices SET tokenState = 'suspect', tokenStateSince = now() - interval '2 hours' WHERE userId IN ('u41', 'u42', 'u43')"
            )
            try await send(bench, 41...60, "worse", answer: .apns(400, "BadDeviceToken"))
            #expect(try await states(bench) == ["suspect": 60])
            let limiter = try #require(try await bench.store.deactivationLimiters.open().first)
            #expect(limiter.scope.credential == "key-1" && limiter.cause == "BadDeviceToken")
            #expect(limiter.deferred > 0)
            #expect(try await bench.count("notificationDeliveryAttempts WHERE status = 'deactivated'") == 0)

            #expect(try await bench.store.deactivationLimiters.close(limiter.id, .undo, recording: .test("ann")) == 60)
            #expect(try await states(bench) == ["active": 60])
            #expect(try await bench.store.deactivationLimiters.close(limiter.id, .undo, recording: .test("ann")) == nil)
            #expect(try await bench.count("tokenDeactivations WHERE undoneAt IS NULL") == 0)
            // The configuration is mended: everybody is reached again.
            try await send(bench, 1...60, "good", answer: nil)
            #expect(try await bench.count("pushFinished WHERE outcome = 'sent'") == 60)
        }
    }

    @Test("deactivations of dead tokens by the dozen are deferred; a release deactivates them, and the rest without another decision")
    func release() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...90)
            try await send(bench, 1...30, "first", answer: gone)
            let off = try await states(bench)["inactive"] ?? 0
            #expect(off < 30)
            let limiter = try #require(try await bench.store.deactivationLimiters.open().first)
            #expect(limiter.deferred == Int64(30 - off))
            // A device that registers again meanwhile is not touched by what is decided about its old registration.
            let deferred = try await bench.pool.query("SELECT userId FROM devices WHERE tokenState = 'suspect' ORDER BY userId LIMIT 1")[0]
                .decode(String.self)
            let number = try #require(Int(deferred.dropFirst()))
            try await bench.register(deferred, "phone\(number)", token: SendingBench.token(number))

            #expect(try await bench.store.deactivationLimiters.close(limiter.id, .confirm, recording: .test("ann")) == 29 - off)
            #expect(try await states(bench) == ["active": 61, "inactive": 29])
            try await send(bench, 31...60, "second", answer: gone)
            #expect(try await states(bench) == ["active": 31, "inactive": 59])
            #expect(try await bench.store.deactivationLimiters.open().isEmpty)
        }
    }

    @Test("another app, environment or credential is not affected; a deferred token is tried again and cleared by a success")
    func scope() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...31)
            try await send(bench, 1...30, "bad", answer: .apns(400, "DeviceTokenNotForTopic"))
            #expect(try await bench.store.deactivationLimiters.open().count == 1)
            // The same place with another credential.
            let sender = ScriptedProvider([SendingBench.token(31): [gone]])
            sender.use(credential: "key-2", scripts: [SendingBench.token(31): [gone]])
            try await bench.enqueue(#"{"sendId": "other", "uid": "u31", "title": "Goal"}"#)
            try await bench.dispatch(sender)
            #expect(try await bench.status(of: "other") == [.deactivated])

            try await bench.pool.execute("UPDATE devices SET tokenStateSince = now() - interval '61 minutes' WHERE userId = 'u1'")
            try await send(bench, 1...1, "again", answer: nil)
            #expect(try await bench.devices.device(userId: "u1", deviceId: "phone1", now: .now())?.tokenState == .active)
        }
    }

    @Test("one deactivation can be undone by itself, unless the device has moved on")
    func single() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...2)
            try await send(bench, 1...2, "dead", answer: gone)
            let ids = try await bench.pool.query("SELECT deactivationId FROM tokenDeactivations ORDER BY userId").map {
                try $0.decode(Int64.self)
            }
            #expect(try await bench.store.deactivationLimiters.undo(deactivation: ids[0], by: "ann"))
            #expect(try await bench.store.deactivationLimiters.undo(deactivation: ids[0], by: "ann") == false)
            #expect(try await states(bench) == ["active": 1, "inactive": 1])
            // The second token is another device's now.
            try await bench.register("new", "phone", token: SendingBench.token(2))
            #expect(try await bench.store.deactivationLimiters.undo(deactivation: ids[1], by: "ann") == false)
            #expect(try await states(bench) == ["active": 2, "inactive": 1])
        }
    }
}
