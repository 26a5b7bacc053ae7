import ServiceKit
import ProviderSimulator
import PushContract
import Testing

@testable import Providers

/// One case for every row of the providers' error tables, through real requests: what the simulator answers, and what becomes of it.
@Suite(.timeLimit(.minutes(3)))
struct OutcomeMatrixTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var provider = Provider.apns
        var status: Int
        var code: String?
        var reason: ReasonCode
        var retry: RetryClass
        var token = TokenAction.none
        var refusalScope = RefusalScope.message
        /// FCM: the field at fault. Empty: none is named.
        var field: String?
        var testDescription: String { "\(provider.rawValue) \(status) \(code ?? "–") \(field ?? "")" }

        init(
            _ status: Int,
            _ code: String?,
            _ reason: ReasonCode,
            _ retry: RetryClass,
            _ token: TokenAction = .none,
            _ refusalScope: RefusalScope = .message
        ) {
            self.status = status
            self.code = code
            self.reason = reason
            self.retry = retry
            self.token = token
            self.refusalScope = refusalScope
        }

        static func fcm(
            _ status: Int,
            _ code: String?,
            _ reason: ReasonCode,
            _ retry: RetryClass,
            _ token: TokenAction = .none,
            _ refusalScope: RefusalScope = .message,
            field: String? = nil
        ) -> Row {
            var row = Row(status, code, reason, retry, token, refusalScope)
            row.provider = .fcm
            row.field = field
            return row
        }
    }

    static let apns: [Row] = [
        Row(410, "Unregistered", .tokenNotRegistered, .never, .deactivate),
        Row(410, "ExpiredToken", .tokenNotRegistered, .never, .deactivate),
        Row(410, nil, .tokenNotRegistered, .never, .suspect),
        Row(410, "Novel", .tokenNotRegistered, .never, .suspect),
        Row(400, "BadDeviceToken", .tokenInvalid, .never, .suspect),
        Row(400, "DeviceTokenNotForTopic", .tokenInvalid, .never, .suspect),
        Row(400, "MissingDeviceToken", .unknown, .never),
        Row(404, "BadPath", .unknown, .never),
        Row(405, "MethodNotAllowed", .unknown, .never),
        Row(400, "DuplicateHeaders", .unknown, .never),
        Row(400, "BadCollapseId", .unknown, .never),
        Row(400, "BadExpirationDate", .unknown, .never),
        Row(400, "BadMessageId", .unknown, .never),
        Row(400, "BadPriority", .unknown, .never),
        Row(400, "InvalidPushType", .unknown, .never),
        Row(400, "PayloadEmpty", .unknown, .never),
        Row(413, "PayloadTooLarge", .unknown, .never),
        Row(400, "BadTopic", .auth, .afterFix, .none, .topic),
        Row(400, "MissingTopic", .auth, .afterFix, .none, .topic),
        Row(400, "TopicDisallowed", .auth, .afterFix, .none, .topic),
        // A young provider token is not replaced: another would come from the same clock.
        Row(403, "ExpiredProviderToken", .auth, .now, .none, .credential),
        Row(403, "InvalidProviderToken", .auth, .afterFix, .none, .credential),
        Row(403, "MissingProviderToken", .auth, .afterFix, .none, .credential),
        Row(403, "Forbidden", .auth, .afterFix, .none, .credential),
        Row(403, "BadCertificate", .auth, .afterFix, .none, .credential),
        Row(403, "BadCertificateEnvironment", .auth, .afterFix, .none, .credential),
        Row(403, "UnrelatedKeyIdInToken", .auth, .afterFix, .none, .credential),
        Row(403, "BadEnvironmentKeyIdInToken", .auth, .afterFix, .none, .credential),
        Row(403, "BadEnvironmentKeyInToken", .auth, .afterFix, .none, .credential),
        Row(429, "TooManyProviderTokenUpdates", .auth, .backoff, .none, .credential),
        Row(429, "TooManyRequests", .unknown, .backoff),
        Row(500, "InternalServerError", .provider5xx, .backoff, .none, .provider),
        Row(503, "ServiceUnavailable", .provider5xx, .backoff, .none, .provider),
        Row(503, "Service Unavailable", .provider5xx, .backoff, .none, .provider),
        Row(503, "Shutdown", .provider5xx, .now),
        Row(400, "IdleTimeout", .network, .now),
        Row(400, "ChannelNotRegistered", .tokenNotRegistered, .never, .deactivate),
        Row(400, "BadChannelId", .tokenInvalid, .never, .deactivate),
        Row(400, "MissingChannelId", .tokenInvalid, .never, .deactivate),
        Row(400, "FeatureNotEnabled", .auth, .afterFix, .none, .topic),
        Row(403, "TopicMismatch", .auth, .afterFix, .none, .topic),
        Row(400, "CannotCreateChannelConfig", .unknown, .afterFix, .none, .topic),
        Row(400, "BadRequestParams", .unknown, .never),
        Row(400, "BadRequestPayload", .unknown, .never),
        Row(400, "MissingPushType", .unknown, .never),
        Row(400, "SomethingNew", .unknown, .never),
        Row(500, "SomethingNew", .provider5xx, .backoff, .none, .provider),
    ]

    static let fcm: [Row] = [
        .fcm(404, "UNREGISTERED", .tokenNotRegistered, .never, .deactivate),
        .fcm(404, "NOT_FOUND", .unknown, .afterFix, .none, .credential),
        .fcm(400, "INVALID_ARGUMENT", .tokenInvalid, .never, .suspect, field: "message.token"),
        .fcm(400, "INVALID_ARGUMENT", .tokenInvalid, .never, .suspect, field: "message.fid"),
        .fcm(400, "INVALID_ARGUMENT", .unknown, .never, field: "message.data[0].value"),
        // The contract files all of FCM's 403 under auth; the token is suspect, mass is the project's fault.
        .fcm(403, "SENDER_ID_MISMATCH", .auth, .never, .suspect),
        .fcm(401, "THIRD_PARTY_AUTH_ERROR", .auth, .afterFix, .none, .platform),
        // Renewed once, and refused again.
        .fcm(401, "UNAUTHENTICATED", .auth, .afterFix, .none, .credential),
        .fcm(403, "PERMISSION_DENIED", .auth, .afterFix, .none, .credential),
        .fcm(429, "QUOTA_EXCEEDED", .unknown, .backoff, .none, .quota),
        .fcm(503, "UNAVAILABLE", .provider5xx, .backoff, .none, .provider),
        .fcm(502, nil, .provider5xx, .backoff, .none, .provider),
        .fcm(504, nil, .provider5xx, .backoff, .none, .provider),
        .fcm(500, "INTERNAL", .provider5xx, .backoff, .none, .provider),
        .fcm(400, "UNSPECIFIED_ERROR", .unknown, .never),
        .fcm(500, "UNSPECIFIED_ERROR", .provider5xx, .backoff, .none, .provider),
    ]

    @Test("every row of both tables becomes its reason, retry class, token action, reach and attempt")
    func rows() async throws {
        try await Simulation.run { simulation in
            let (apns, fcm) = (try simulation.apns(), try simulation.fcm())
            for row in Self.apns + Self.fcm {
                simulation.simulator.setFaults([Self.fault(row)])
                let provider: any PushProvider = row.provider == .apns ? apns : fcm
                let outcome = await simulation.send(by: provider)
                let name = row.testDescription
                // What the attempt's row gets.
                #expect(outcome.status == .failed, "\(name)")
                #expect(outcome.reasonCode == row.reason, "\(name)")
                if row.code != nil { #expect(outcome.providerErrorCode == row.code, "\(name)") }
                #expect(outcome.httpStatus == row.status, "\(name)")
                #expect(!outcome.outcomeUnknown, "\(name)")
                // What follows from it.
                #expect(outcome.retryClass == row.retry, "\(name)")
                #expect(outcome.tokenAction == row.token, "\(name)")
                #expect(outcome.refusalScope == row.refusalScope, "\(name)")
                if row.status == 410, row.code != "Novel", row.code != nil { #expect(outcome.tokenInvalidSince != nil, "\(name)") }
            }
        }
    }

    private static func fault(_ row: Row) -> FaultRule {
        let provider: SimulatedProvider = row.provider == .apns ? .apns : .fcm
        guard row.provider == .apns || row.code != nil else { return FaultRule(provider: provider, effect: .html(status: row.status)) }
        return FaultRule(provider, status: row.status, reason: row.code, field: row.field)
    }

    @Test("the quota of a device or a topic holds up that target alone")
    func narrowQuota() throws {
        for (subject, refusalScope) in [("project:demo", RefusalScope.quota), ("device", .message), ("topic:/topics/news", .message)] {
            #expect(RefusalScope.fcm(status: 429, errorCode: "QUOTA_EXCEEDED", quotaSubjects: [subject]) == refusalScope)
        }
        #expect(RefusalScope.fcm(status: 429, errorCode: nil, quotaSubjects: []) == .quota)
    }

    @Test(
        "OAuth: a refusal is the credential's fault, an outage of the token endpoint the network's",
        arguments: [(400, "invalid_grant"), (401, "unauthorized_client"), (503, "internal_failure")]
    )
    func oauth(status: Int, error: String) async throws {
        try await Simulation.run { simulation in
            simulation.simulator.setFaults([FaultRule(.oauth, status: status, reason: error)])
            let outcome = await simulation.send(by: try simulation.fcm())
            #expect(outcome.status == .failed && !outcome.outcomeUnknown)
            #expect(outcome.reasonCode == (status == 503 ? .network : .auth))
            #expect(outcome.retryClass == (status == 503 ? .backoff : .afterFix))
            #expect(outcome.refusalScope == (status == 503 ? .provider : .credential))
            #expect(simulation.simulator.statistics.answers["fcm"] == nil)
        }
    }

    @Test("an argument fault that names no field is decided by one message without content, which is not delivered")
    func ambiguous() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            for (times, reason, action) in [(2, ReasonCode.tokenInvalid, TokenAction.suspect), (1, .unknown, .none)] {
                simulation.simulator.removeRequests()
                simulation.simulator.setFaults([FaultRule(.fcm, status: 400, reason: "INVALID_ARGUMENT", times: times, field: "")])
                let outcome = await simulation.send(by: provider)
                #expect(outcome.reasonCode == reason && outcome.tokenAction == action && outcome.retryClass == .never)
                let requests = simulation.simulator.requests(provider: .fcm)
                #expect(requests.count == 2)
                #expect(requests.last?.body == #"{"message":{"token":"\#(Samples.fcmToken)"},"validate_only":true}"#)
            }
        }
    }

    @Test("an installation id goes as fid, and validate_only is passed on to FCM and refused for APNs")
    func addresses() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            var target = Samples.target(.fcm, token: "cFy3xYtuT1W8installationid")
            target.address = .fid
            var message = PushMessage(title: "T")
            message.validateOnly = true
            let outcome = await provider.send(message, to: target, attemptId: "a", now: simulation.clock.now)
            #expect(outcome.status == .sent, "\(outcome.detail)")
            #expect(outcome.providerMessageId?.hasSuffix("fake_message_id") == true)
            let body = try Samples.json(try #require(simulation.simulator.requests(provider: .fcm).last?.body))
            #expect(body["message"]?["fid"] == .string("cFy3xYtuT1W8installationid"))
            #expect(body["message"]?["token"] == nil && body["validate_only"] == .bool(true))
            #expect(throws: PushError.self) { try PushValidation.validate(message, for: .apns, app: Samples.bundle) }
        }
    }
}
