import Postgres
import Providers
import PushContract
import Testing

@testable import Delivery

@Suite("A token of the other environment")
struct EnvironmentTrialTests {
    private static let token = SendingBench.token(1)
    private static let bad = PushOutcome.apns(400, "BadDeviceToken")
    private static let both: Set<PushEnvironment> = [.production, .sandbox]

    private func trial(_ bench: SendingBench) async throws -> [String] {
        let row = try await bench.pool.query("SELECT environment, environmentTrial, tokenState FROM devices")[0]
        let (environment, trial, state) = try row.decode((String, String?, String).self)
        return [environment, trial ?? "-", state]
    }

    private func send(_ bench: SendingBench, _ sendId: String, _ sender: ScriptedProvider) async throws -> StoredSend {
        try await bench.enqueue(#"{"sendId": "\#(sendId)", "uid": "ann", "title": "Goal"}"#)
        try await bench.dispatch(sender)
        return try await bench.send(sendId)
    }

    @Test("it is tried there once, sent, and remembered, whatever environment the app registers next time")
    func found() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            let sender = ScriptedProvider([Self.token: [Self.bad]], environments: Self.both)
            let first = try await send(bench, "s1", sender)
            #expect(first.state == .sent)
            #expect(first.attempts.map(\.status) == [.failed, .sent])
            #expect(first.attempts.map(\.environment) == [.production, .sandbox])
            #expect(first.attempts.map(\.providerErrorCode) == ["BadDeviceToken", nil])
            #expect(try await trial(bench) == ["sandbox", "found", "active"])
            try await bench.register("ann", "phone", token: Self.token)
            #expect(try await trial(bench) == ["sandbox", "found", "active"])
            #expect(try await send(bench, "s2", sender).attempts.map(\.environment) == [.sandbox])
            // Another token may belong elsewhere.
            try await bench.register("ann", "phone", token: SendingBench.token(2))
            #expect(try await trial(bench) == ["production", "-", "active"])
        }
    }

    @Test("refused in both, it is suspect where it was said to belong, and not tried elsewhere again")
    func neither() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            let sender = ScriptedProvider([Self.token: [Self.bad, Self.bad, Self.bad]], environments: Self.both)
            let first = try await send(bench, "s1", sender)
            #expect(first.state == .failed)
            #expect(first.deliveries.map(\.providerErrorCode) == ["BadDeviceToken"])
            #expect(first.attempts.map(\.environment) == [.production, .sandbox])
            #expect(try await trial(bench) == ["production", "neither", "suspect"])
            let total = try await bench.pool.query("SELECT environment::text, sum(total)::int8 FROM tokenOutcomes GROUP BY 1")
            let counts = try total.map { try $0.decode((String, Int).self) }
            #expect(counts.map(\.0) == ["production"] && counts.map(\.1) == [1])
            try await bench.pool.execute("UPDATE devices SET tokenStateSince = tokenStateSince - interval '61 minutes'")
            #expect(try await send(bench, "s2", sender).attempts.map(\.environment) == [.production])
            #expect(try await trial(bench) == ["production", "neither", "inactive"])
        }
    }

    @Test("one that was ever taken here belongs here")
    func valid() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            #expect(try await send(bench, "s1", ScriptedProvider(environments: Self.both)).state == .sent)
            let refused = try await send(bench, "s2", ScriptedProvider([Self.token: [Self.bad]], environments: Self.both))
            #expect(refused.state == .failed && refused.attempts.count == 1)
            #expect(try await trial(bench) == ["production", "-", "suspect"])
        }
    }

    @Test(
        "a key that is not for the other environment ends the trial and blocks nothing",
        arguments: ["BadEnvironmentKeyIdInToken", "Forbidden"]
    )
    func key(reason: String) async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            let sender = ScriptedProvider([Self.token: [Self.bad, .apns(403, reason)]], environments: Self.both)
            let send = try await send(bench, "s1", sender)
            #expect(send.state == .failed)
            #expect(send.attempts.map(\.reasonCode) == [.tokenInvalid, .auth])
            #expect(try await trial(bench) == ["production", "neither", "suspect"])
            #expect(try await bench.store.circuits().isEmpty)
        }
    }

    @Test("an outage in between leaves the trial open; the next try settles it")
    func outage() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            let answers = [Self.bad, .apns(503, "ServiceUnavailable")]
            let send = try await send(bench, "s1", ScriptedProvider([Self.token: answers], environments: Self.both))
            #expect(send.attempts.map(\.environment) == [.production, .sandbox, .sandbox])
            #expect(try await trial(bench) == ["sandbox", "found", "active"])
        }
    }

    @Test("what else was under way to it follows, and nothing counts against it")
    func together() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            for number in 1...3 { try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "ann", "title": "Goal"}"#) }
            try await bench.dispatch(ScriptedProvider([Self.token: [Self.bad, Self.bad, Self.bad]], environments: Self.both))
            for number in 1...3 {
                #expect(try await bench.send("s\(number)").attempts.map(\.environment) == [.production, .sandbox])
            }
            #expect(try await trial(bench) == ["sandbox", "found", "active"])
            #expect(try await bench.count("tokenDeactivations") == 0)
        }
    }
}
