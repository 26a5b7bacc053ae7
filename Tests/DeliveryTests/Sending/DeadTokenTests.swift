import Delivery
import HTTPServer
import Postgres
import Providers
import PushContract
import Testing

@Suite("Dead tokens")
struct DeadTokenTests {
    private let token = SendingBench.token(1)

    private func send(_ number: Int, _ bench: SendingBench) async throws {
        try await bench.enqueue(
            #"{"sendId": "s\#(number)", "token": "\#(token)", "provider": "apns", "app": "com.example.app", "title": "a"}"#
        )
    }

    @Test("a send to a token known dead ends at once without a request, until an app registers the token again")
    func rawToken() async throws {
        try await SendingBench.with { bench in
            let provider = ScriptedProvider([token: [.apns(410, "Unregistered")]])
            for number in 1...3 {
                try await send(number, bench)
                try await bench.dispatch(provider)
            }
            #expect(provider.calls.map(\.sendId) == ["s1"])
            #expect(try await bench.send("s3").state == .unreachable)
            let known = try await bench.pool.query("SELECT state::text, cause FROM tokenRegistry")
            #expect(try known.map { try $0.decode((String, String).self) }.map { "\($0) \($1)" } == ["inactive Unregistered"])
            try await bench.register("ann", "phone", token: token)
            try await send(4, bench)
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["s1", "s4"])
        }
    }

    @Test("a token that died as a device's is dead for a send that names it, and stays so after its device is unregistered")
    func deviceToken() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let provider = ScriptedProvider([token: [.apns(410, "Unregistered")]])
            try await bench.dispatch(provider)
            _ = try await bench.devices.unregister(userId: "ann", deviceId: "phone", requestId: "out", now: .now())
            try await send(2, bench)
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["s1"])
        }
    }

    @Test("a send that names a registered token of another kind than its push type is 422")
    func kinds() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let start = String(repeating: "b", count: 160)
            let registration = StartTokenRegistration(userId: "ann", deviceId: "phone", token: try PushToken(start, provider: .apns))
            _ = try await bench.devices.register(registration, requestId: "r", now: .now())
            func receipt(_ token: String, _ rest: String) async throws -> SendReceipt {
                let id = UInt64.random(in: 0 ... .max)
                return try await bench.enqueue(
                    #"{"sendId": "s\#(id)", "token": "\#(token)", "provider": "apns", "app": "com.example.app", \#(rest)}"#
                )[0]
            }
            let live = #""pushType": "liveactivity", "apns": {"aps": {"event": "start"}}"#
            for (token, rest) in [(start, #""title": "a""#), (token, live)] {
                guard case .refused(let problem) = try await receipt(token, rest) else {
                    Issue.record("accepted")
                    continue
                }
                #expect(problem.code == "token_kind_mixed_up")
            }
            for (token, rest) in [(token, #""title": "a""#), (start, live)] {
                if case .refused(let problem) = try await receipt(token, rest) { Issue.record("\(problem)") }
            }
        }
    }
}
