import HTTPClient
import PushContract
import ServiceKit
import Testing

@testable import Delivery
@testable import Providers

/// One case for every row of the providers' error tables that a send can meet, from the answer through the real queue: what the attempt's
/// row says, where the delivery goes, what becomes of the token, and what of the queue. `OutcomeMatrixTests` shows the way from the wire to
/// the outcome; what concerns broadcast channels alone is in `BroadcastTests`.
@Suite("What each answer does")
struct OutcomeEffectTests {
    enum Place: Sendable { case dead, retrying, blocked, sentByNextAttempt }
    enum SendQueue: Sendable { case goesOn, paused, blocked, blockedForOnePlatform }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var platform: Platform
        var provider: Provider
        var outcome: PushOutcome
        var reason: ReasonCode
        var place: Place
        var token: TokenState
        var queue: SendQueue
        var policy = DeliveryPolicy.atLeastOnce
    }

    private static let gone = Timestamp.now() + .seconds(3600)

    private static func apns(
        _ status: Int,
        _ code: String?,
        _ reason: ReasonCode,
        _ place: Place,
        _ token: TokenState = .active,
        _ queue: SendQueue = .goesOn,
        retryAfter: Duration? = nil
    ) -> Row {
        let answer = APNsResponse(
            status: status,
            reason: code,
            timestamp: status == 410 && code != nil ? gone : nil,
            retryAfter: retryAfter
        )
        return Row(
            testDescription: "APNs \(status) \(code ?? "–") \(retryAfter.map { "Retry-After \($0)" } ?? "")",
            platform: .ios,
            provider: .apns,
            outcome: answer.outcome(latency: .milliseconds(5)),
            reason: reason,
            place: place,
            token: token,
            queue: queue
        )
    }

    private static func fcm(
        _ status: Int,
        _ code: String?,
        _ reason: ReasonCode,
        _ place: Place,
        _ token: TokenState = .active,
        _ queue: SendQueue = .goesOn,
        status errorStatus: String? = nil,
        field: String? = nil,
        quota: [String] = [],
        platform: Platform = .android
    ) -> Row {
        var answer = FCMResponse(status: status)
        answer.errorCode = code
        answer.errorStatus = errorStatus
        answer.fields = field.map { [$0] } ?? []
        answer.quotaSubjects = quota
        let target = PushTarget(provider: .fcm, token: "t", environment: .production, app: "a")
        return Row(
            testDescription: "FCM \(status) \(code ?? errorStatus ?? "–") \(field ?? "") \(quota.joined())",
            platform: platform,
            provider: .fcm,
            outcome: answer.outcome(latency: .milliseconds(5), target: target),
            reason: reason,
            place: place,
            token: token,
            queue: queue
        )
    }

    private static func notSent(
        _ provider: Provider,
        _ phase: OutboundFailure.Phase,
        _ kind: OutboundFailure.Kind,
        _ place: Place,
        policy: DeliveryPolicy = .atLeastOnce
    ) -> Row {
        Row(
            testDescription: "\(provider) \(kind) \(phase) \(policy)",
            platform: provider == .apns ? .ios : .android,
            provider: provider,
            outcome: .notSent(OutboundFailure(phase, kind, detail: "as told")),
            reason: .network,
            place: place,
            token: .active,
            queue: .goesOn,
            policy: policy
        )
    }

    static let apnsRows: [Row] =
        [
            apns(410, "Unregistered", .tokenNotRegistered, .dead, .inactive),
            apns(410, "ExpiredToken", .tokenNotRegistered, .dead, .inactive),
            apns(410, nil, .tokenNotRegistered, .dead, .suspect),
            apns(410, "Novel", .tokenNotRegistered, .dead, .suspect),
            apns(400, "BadDeviceToken", .tokenInvalid, .dead, .suspect),
            apns(400, "DeviceTokenNotForTopic", .tokenInvalid, .dead, .suspect),
            apns(404, "BadPath", .unknown, .dead),
            apns(405, "MethodNotAllowed", .unknown, .dead),
            apns(413, "PayloadTooLarge", .unknown, .dead),
            apns(403, "ExpiredProviderToken", .auth, .sentByNextAttempt),
            apns(429, "TooManyProviderTokenUpdates", .auth, .retrying, .active, .paused),
            apns(429, "TooManyRequests", .unknown, .retrying),
            apns(429, "TooManyRequests", .unknown, .retrying, retryAfter: .seconds(90)),
            apns(429, nil, .unknown, .retrying, .active, .paused),
            apns(500, "InternalServerError", .provider5xx, .retrying),
            apns(503, "ServiceUnavailable", .provider5xx, .retrying),
            apns(503, "ServiceUnavailable", .provider5xx, .retrying, retryAfter: .seconds(90)),
            apns(503, "Shutdown", .provider5xx, .sentByNextAttempt),
            apns(400, "IdleTimeout", .network, .sentByNextAttempt),
            apns(400, "SomethingNew", .unknown, .dead),
            apns(500, "SomethingNew", .provider5xx, .retrying),
        ]
        + [
            "MissingDeviceToken", "DuplicateHeaders", "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority",
            "InvalidPushType",
            "PayloadEmpty",
        ].map { apns(400, $0, .unknown, .dead) }
        + ["BadTopic", "MissingTopic", "TopicDisallowed"].map { apns(400, $0, .auth, .blocked, .active, .blocked) }
        + [
            "InvalidProviderToken", "MissingProviderToken", "Forbidden", "BadCertificate", "BadCertificateEnvironment",
            "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
        ].map { apns(403, $0, .auth, .blocked, .active, .blocked) }
        + [
            notSent(.apns, .notWritten, .dns, .retrying), notSent(.apns, .notWritten, .connect, .retrying),
            notSent(.apns, .notWritten, .tls, .retrying), notSent(.apns, .notWritten, .reset, .retrying),
            notSent(.apns, .notWritten, .goaway, .sentByNextAttempt), notSent(.apns, .unanswered, .timeout, .retrying),
            notSent(.apns, .unanswered, .reset, .retrying), notSent(.apns, .unanswered, .timeout, .dead, policy: .atMostOnce),
            notSent(.apns, .notWritten, .connect, .retrying, policy: .atMostOnce),
        ]

    static let fcmRows: [Row] = [
        fcm(404, "UNREGISTERED", .tokenNotRegistered, .dead, .inactive),
        fcm(404, nil, .unknown, .blocked, .active, .blocked, status: "NOT_FOUND"),
        fcm(400, "INVALID_ARGUMENT", .tokenInvalid, .dead, .suspect, field: "message.token"),
        fcm(400, "INVALID_ARGUMENT", .tokenInvalid, .dead, .suspect, field: "message.fid"),
        fcm(400, "INVALID_ARGUMENT", .unknown, .dead, field: "message.data[0].value"),
        fcm(400, "INVALID_ARGUMENT", .unknown, .dead),
        fcm(400, nil, .unknown, .dead, status: "INVALID_ARGUMENT"),
        fcm(403, "SENDER_ID_MISMATCH", .auth, .dead, .suspect),
        fcm(401, "THIRD_PARTY_AUTH_ERROR", .auth, .blocked, .active, .blockedForOnePlatform, platform: .ios),
        fcm(401, "THIRD_PARTY_AUTH_ERROR", .auth, .blocked, .active, .blockedForOnePlatform, platform: .web),
        fcm(401, nil, .auth, .sentByNextAttempt, status: "UNAUTHENTICATED"),
        fcm(403, nil, .auth, .blocked, .active, .blocked, status: "PERMISSION_DENIED"),
        fcm(429, "QUOTA_EXCEEDED", .unknown, .retrying, .active, .paused, quota: ["project:demo"]),
        fcm(429, "QUOTA_EXCEEDED", .unknown, .retrying, .active, .paused),
        fcm(429, "QUOTA_EXCEEDED", .unknown, .retrying, quota: ["device:x"]),
        fcm(429, "QUOTA_EXCEEDED", .unknown, .retrying, quota: ["topic:/topics/news"]),
        fcm(503, "UNAVAILABLE", .provider5xx, .retrying),
        fcm(502, nil, .provider5xx, .retrying),
        fcm(504, nil, .provider5xx, .retrying),
        fcm(500, "INTERNAL", .provider5xx, .retrying),
        fcm(400, "UNSPECIFIED_ERROR", .unknown, .dead),
        fcm(500, "UNSPECIFIED_ERROR", .provider5xx, .retrying),
        notSent(.fcm, .notWritten, .goaway, .sentByNextAttempt), notSent(.fcm, .unanswered, .timeout, .retrying),
        notSent(.fcm, .notWritten, .connect, .retrying),
    ]

    /// Long enough that nothing is due again while the test looks; at once stays at once.
    private static let delays: RetryDelays = {
        let curve = Backoff(base: .seconds(60), minimum: .seconds(3600), cap: .seconds(3600))
        return RetryDelays(apns: curve, fcm: curve, network: curve, throttled: curve, afterFix: curve, pause: curve)
    }()

    private static func token(_ number: Int, _ provider: Provider) -> String {
        provider == .apns ? SendingBench.token(number) : "fcm-token-of-row-\(number)"
    }

    @Test("each provider response decides the attempt's row, the delivery's state, the token's state and the queue")
    func rows() async throws {
        try await SendingBench.with { bench in
            try await bench.delayProbes()
            let rows = Self.apnsRows + Self.fcmRows
            var scripts: [String: [PushOutcome]] = [:]
            // An app a row: what one row does to its queue is not another's.
            for (number, row) in rows.enumerated() {
                let registration = DeviceRegistration(
                    userId: "u\(number)",
                    deviceId: "d",
                    token: try PushToken(Self.token(number, row.provider), provider: row.provider),
                    platform: row.platform,
                    provider: row.provider,
                    app: "app\(number)"
                )
                _ = try await bench.devices.register(registration, requestId: "r\(number)", now: .now())
                scripts[registration.token.rawValue] = [row.outcome]
            }
            let items = rows.enumerated().map { number, row in
                #"{"sendId": "s\#(number)", "uid": "u\#(number)", "title": "t", "policy": "\#(row.policy.rawValue)"}"#
            }
            try await bench.enqueue("[" + items.joined(separator: ",") + "]")
            try await bench.dispatch(ScriptedProvider(scripts)) { $0.delays = Self.delays }
            let circuits = try await bench.store.circuits()
            let pauses = try await bench.store.pausesWithDatabaseTime().pauses
            for (number, row) in rows.enumerated() {
                try await check(row, number, bench, circuits: circuits, pauses: pauses)
            }
        }
    }

    private func check(_ row: Row, _ number: Int, _ bench: SendingBench, circuits: [Circuit], pauses: [RateLimitPause]) async throws {
        let name = row.testDescription
        let send = try await bench.send("s\(number)")
        let first = try #require(send.attempts.first, "\(name)")
        let device = try #require(try await bench.devices.device(userId: "u\(number)", deviceId: "d", now: .now()))
        #expect(first.status == (row.token == .inactive ? .deactivated : .failed), "\(name)")
        #expect(first.reasonCode == row.reason, "\(name)")
        let unknown = row.outcome.outcomeUnknown ? "OutcomeUnknown" : nil
        #expect(first.providerErrorCode == row.outcome.providerErrorCode ?? unknown, "\(name)")
        #expect(device.tokenState == row.token, "\(name)")
        let state: SendState =
            switch row.place {
            case .dead: .failed
            case .retrying: .retrying
            case .blocked: .blocked
            case .sentByNextAttempt: .sent
            }
        #expect(send.state == state, "\(name)")
        #expect(send.attempts.count == (row.place == .sentByNextAttempt ? 2 : 1), "\(name)")
        let circuit = circuits.first { $0.scope.app == "app\(number)" }
        switch row.queue {
        case .goesOn, .paused: #expect(circuit == nil, "\(name)")
        case .blocked: #expect(circuit != nil && circuit?.scope.platform == nil, "\(name)")
        case .blockedForOnePlatform: #expect(circuit?.scope.platform == row.platform, "\(name)")
        }
        #expect(pauses.contains { $0.app == "app\(number)" } == (row.queue == .paused), "\(name)")
    }
}
