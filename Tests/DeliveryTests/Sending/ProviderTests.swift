import HTTPServer
import Providers
import PushContract
import ServiceKit
import Synchronization
import Testing

@testable import Delivery

/// A provider that gives one answer, and remembers what it was asked.
private final class FixedProvider: PushProvider {
    let outcome: PushOutcome
    let asked = Mutex<[(message: PushMessage, target: PushTarget, attemptId: String)]>([])

    init(_ outcome: PushOutcome) { self.outcome = outcome }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        asked.withLock { $0.append((message, target, attemptId)) }
        return outcome
    }
}

@Suite("Sending through providers")
struct ProviderTests {
    private let token = SendingBench.token(1)

    private func gone(at moment: Timestamp?) -> PushOutcome {
        var outcome = PushOutcome.failed(
            ReasonMapping.apns(status: 410, reason: "Unregistered"),
            code: "Unregistered",
            detail: "gone",
            httpStatus: 410,
            latency: .milliseconds(9)
        )
        outcome.tokenInvalidSince = moment
        return outcome
    }

    @Test("a stored send reaches the provider as it was asked for, under one name for all its tries")
    func message() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(
                """
                {"sendId": "s1", "uid": "ann", "title": "Goal", "body": "2:1", "data": {"match": 7}, "pushType": "alert",
                 "collapseId": "m7", "priority": "normal", "sound": "default", "badge": 3, "apns": {"aps": {"thread-id": "m7"}}}
                """
            )
            let fixed = FixedProvider(.sent(messageId: "apns-1", httpStatus: 200, latency: .milliseconds(31)))
            try await bench.dispatch({ provider, _, _ in provider == .apns ? fixed : nil })
            let asked = fixed.asked.withLock { $0 }
            #expect(asked.count == 1)
            #expect(asked[0].message.title == "Goal")
            #expect(asked[0].message.data == ["match": .integer(7)])
            #expect(asked[0].message.priority == .normal)
            #expect(asked[0].message.collapseId == "m7")
            #expect(asked[0].message.badge == 3)
            #expect(asked[0].target.token == token)
            let attempt = try #require(try await bench.send("s1").attempts.first)
            #expect(asked[0].attemptId == "s1:phone")
            #expect(attempt.providerMessageId == "apns-1")
            #expect(attempt.latencyMs == 31)
            #expect(attempt.pushType == "alert")
        }
    }

    @Test("a provider's 410 with its time deactivates the token")
    func gone() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token, at: .now() - .seconds(60))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            try await bench.dispatch({ [fixed = FixedProvider(gone(at: .now()))] _, _, _ in fixed })
            #expect(try await bench.status(of: "s1") == [.deactivated])
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState == .inactive)
        }
    }

    @Test("without a credential for the app the send is blocked, and recorded as auth")
    func noCredential() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            try await bench.dispatch({ _, _, _ in nil }) { $0.delays = RetryDelays() }
            let send = try await bench.send("s1")
            #expect(send.state == .blocked)
            #expect(send.attempts.map(\.reasonCode) == [.auth])
            #expect(send.attempts.map(\.providerErrorCode) == ["NoCredentials"])
        }
    }

    @Test("a payload the provider would refuse is refused when it comes in")
    func validation() throws {
        let long = String(repeating: "x", count: 3900)
        let json =
            #"{"token": "\#(token)", "provider": "apns", "app": "com.example.app", "title": "t", "data": {"a": "\#(long)", "b": "\#(long)"}}"#
        let request = try SendRequest(try JSONParser.parse(Array(json.utf8)), now: .now())
        let apns = PayloadKind(provider: .apns, platform: .ios, environment: .production, app: "com.example.app")
        let problem = #expect(throws: Problem.self) { try SendValidation.check(request, apns) }
        #expect(problem?.code == "payload_refused")
        #expect(problem?.detail.contains("PayloadTooLarge") == true)
        let fine = try SendRequest(
            try JSONParser.parse(Array(#"{"uid": "ann", "title": "Goal"}"#.utf8)),
            now: .now()
        )
        let message = try SendValidation.check(fine, apns)
        #expect(message?.payload?.bytes == Array(#"{"aps":{"alert":{"title":"Goal"}}}"#.utf8))
        let fcm = PayloadKind(provider: .fcm, platform: .android, environment: .production, app: "com.example.app")
        #expect(try SendValidation.check(fine, fcm)?.title == "Goal")
    }
}
