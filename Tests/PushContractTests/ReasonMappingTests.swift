import PushContract
import Testing

@Suite("Reason mapping")
struct ReasonMappingTests {
    @Test(
        "APNs",
        arguments: [
            (400, "BadDeviceToken", .tokenInvalid, .never, .suspect), (400, "DeviceTokenNotForTopic", .tokenInvalid, .never, .suspect),
            (410, "Unregistered", .tokenNotRegistered, .never, .deactivate),
            (410, "ExpiredToken", .tokenNotRegistered, .never, .deactivate),
            (410, nil, .tokenNotRegistered, .never, .suspect), (500, "InternalServerError", .provider5xx, .backoff, .none),
            (503, "ServiceUnavailable", .provider5xx, .backoff, .none), (503, "Shutdown", .provider5xx, .now, .none),
            (502, nil, .provider5xx, .backoff, .none), (403, "ExpiredProviderToken", .auth, .now, .none),
            (403, "InvalidProviderToken", .auth, .afterFix, .none), (403, "SomethingNew", .auth, .afterFix, .none),
            (400, "BadTopic", .auth, .afterFix, .none), (400, "TopicDisallowed", .auth, .afterFix, .none),
            (429, "TooManyProviderTokenUpdates", .auth, .backoff, .none), (429, "TooManyRequests", .unknown, .backoff, .none),
            (413, "PayloadTooLarge", .unknown, .never, .none), (400, "BadCollapseId", .unknown, .never, .none),
            (400, "IdleTimeout", .network, .now, .none),
            // By code, never by a substring: a 400 whose text mentions 500 is no outage.
            (400, "error 500 while parsing", .unknown, .never, .none), (400, "unregistered", .unknown, .never, .none),
        ] as [(Int, String?, ReasonCode, RetryClass, TokenAction)]
    )
    func apns(status: Int, reason: String?, code: ReasonCode, retry: RetryClass, token: TokenAction) {
        #expect(ReasonMapping.apns(status: status, reason: reason) == Classification(code, retry: retry, token: token))
    }

    @Test(
        "FCM HTTP v1",
        arguments: [
            (404, "UNREGISTERED", false, .tokenNotRegistered, .never, .deactivate), (404, nil, false, .unknown, .afterFix, .none),
            (400, "INVALID_ARGUMENT", true, .tokenInvalid, .never, .suspect), (400, "INVALID_ARGUMENT", false, .unknown, .never, .none),
            (403, "SENDER_ID_MISMATCH", false, .auth, .never, .suspect), (403, nil, false, .auth, .afterFix, .none),
            (401, "THIRD_PARTY_AUTH_ERROR", false, .auth, .afterFix, .none), (401, nil, false, .auth, .now, .none),
            (429, "QUOTA_EXCEEDED", false, .unknown, .backoff, .none), (503, "UNAVAILABLE", false, .provider5xx, .backoff, .none),
            (500, "INTERNAL", false, .provider5xx, .backoff, .none), (502, nil, false, .provider5xx, .backoff, .none),
        ] as [(Int, String?, Bool, ReasonCode, RetryClass, TokenAction)]
    )
    func fcm(status: Int, error: String?, namesToken: Bool, code: ReasonCode, retry: RetryClass, token: TokenAction) {
        #expect(
            ReasonMapping.fcm(status: status, errorCode: error, namesToken: namesToken) == Classification(code, retry: retry, token: token)
        )
    }

    @Test(
        "Firebase Admin codes",
        arguments: [
            ("messaging/invalid-registration-token", .tokenInvalid), ("messaging/registration-token-not-registered", .tokenNotRegistered),
            ("messaging/server-unavailable", .provider5xx), ("messaging/internal-error", .provider5xx),
            ("messaging/third-party-auth-error", .auth), ("messaging/payload-size-limit-exceeded", .unknown), ("nonsense", .unknown),
        ] as [(String, ReasonCode)]
    )
    func admin(code: String, reason: ReasonCode) {
        #expect(ReasonMapping.firebaseAdmin(code: code).reasonCode == reason)
    }

    private func reason(apns status: Int, _ code: String? = nil) -> ReasonCode {
        ReasonMapping.apns(status: status, reason: code).reasonCode
    }

    private func reason(fcm status: Int, _ code: String? = nil) -> ReasonCode {
        ReasonMapping.fcm(status: status, errorCode: code).reasonCode
    }

    private func reason(sender code: String) -> ReasonCode { ReasonMapping.firebaseAdmin(code: code).reasonCode }

    @Test("T-26: BadDeviceToken and messaging/invalid-registration-token are token_invalid")
    func tokenInvalid() {
        #expect(reason(apns: 400, "BadDeviceToken") == .tokenInvalid)
        #expect(reason(sender: "messaging/invalid-registration-token") == .tokenInvalid)
    }

    @Test("T-27: Unregistered and messaging/registration-token-not-registered are token_not_registered")
    func tokenNotRegistered() {
        #expect(reason(apns: 410, "Unregistered") == .tokenNotRegistered)
        #expect(reason(sender: "messaging/registration-token-not-registered") == .tokenNotRegistered)
        #expect(reason(fcm: 404, "UNREGISTERED") == .tokenNotRegistered)
    }

    @Test("T-28: every 5xx, and a provider that calls itself unavailable, is provider_5xx")
    func provider5xx() {
        for status in 500...599 { #expect(reason(apns: status) == .provider5xx && reason(fcm: status) == .provider5xx) }
        for status in 500...599 {
            #expect(ReasonMapping.oauth(status: status, error: nil) == Classification(.provider5xx, retry: .backoff))
        }
        #expect(reason(apns: 503, "ServiceUnavailable") == .provider5xx && reason(fcm: 503, "UNAVAILABLE") == .provider5xx)
        #expect(reason(sender: "messaging/server-unavailable") == .provider5xx)
    }

    @Test("T-29: what brought no answer is network, and is tried again")
    func network() { #expect(ReasonMapping.network == Classification(.network, retry: .backoff)) }

    @Test("T-30: a refused credential is auth")
    func auth() {
        #expect(reason(apns: 403, "InvalidProviderToken") == .auth && reason(apns: 403, "ExpiredProviderToken") == .auth)
        #expect(reason(fcm: 401) == .auth && reason(fcm: 403) == .auth)
        #expect(ReasonMapping.oauth(status: 400, error: "invalid_grant").reasonCode == .auth)
        // Google is too busy, or does not wait any more: nothing of the credential.
        for status in [408, 429] { #expect(ReasonMapping.oauth(status: status, error: nil) == ReasonMapping.network) }
    }

    @Test("T-31: every other code is unknown")
    func unknown() {
        #expect(reason(apns: 413, "PayloadTooLarge") == .unknown && reason(apns: 400, "SomethingNew") == .unknown)
        #expect(reason(fcm: 400, "INVALID_ARGUMENT") == .unknown && reason(sender: "messaging/anything-else") == .unknown)
    }

    @Test("the codes that act on a token or open a circuit are these, and a code that deactivates is never retried")
    func actions() {
        func codes(_ isIncluded: (ProviderCode) -> Bool) -> Set<String> { Set(ProviderCode.table.filter(isIncluded).map(\.code)) }
        let deactivating: Set = [
            "Unregistered", "ExpiredToken", "ChannelNotRegistered", "BadChannelId", "MissingChannelId", "UNREGISTERED",
            "messaging/registration-token-not-registered", "messaging/installation-id-not-registered",
        ]
        let suspecting: Set = [
            "BadDeviceToken", "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH", "messaging/invalid-registration-token",
            "messaging/mismatched-credential",
        ]
        let ofTopic: Set = [
            "BadTopic", "MissingTopic", "TopicDisallowed", "FeatureNotEnabled", "TopicMismatch", "CannotCreateChannelConfig",
        ]
        let (actualDeactivating, actualSuspecting) = (codes { action($0) == .deactivate }, codes { action($0) == .suspect })
        let actualOfTopic = codes { $0.scope == .topic }
        let retriedAlthoughDeactivated = codes { action($0) == .deactivate && $0.classification?.retryClass != .never }
        #expect(actualDeactivating == deactivating)
        #expect(actualSuspecting == suspecting)
        #expect(actualOfTopic == ofTopic)
        #expect(retriedAlthoughDeactivated.isEmpty)
    }

    private func action(_ row: ProviderCode) -> TokenAction? { row.classification?.tokenAction }
}
