/// Every provider code that Pushwatch classifies; a new one is one row here.
///
/// Sources: the lifecycle contract's "Reason code mapping"; Apple, "Handling notification responses from APNs" and "Sending channel
/// management requests to APNs"; Google, "FCM ErrorCode" and "Admin Cloud Messaging API errors".
extension ProviderCode {
    package static let table: [ProviderCode] = apnsReasons + fcmErrors + adminErrors

    private static let apnsReasons: [ProviderCode] = [
        // The token.
        apns(410, "Unregistered", .tokenNotRegistered, .never, token: .deactivate),
        apns(410, "ExpiredToken", .tokenNotRegistered, .never, token: .deactivate),
        apns(400, "BadDeviceToken", .tokenInvalid, .never, token: .suspect),
        apns(400, "DeviceTokenNotForTopic", .tokenInvalid, .never, token: .suspect),
        // The request: this message can never be accepted.
        apns(400, "MissingDeviceToken", .unknown, .never),
        apns(404, "BadPath", .unknown, .never),
        apns(405, "MethodNotAllowed", .unknown, .never),
        apns(400, "DuplicateHeaders", .unknown, .never),
        apns(400, "BadCollapseId", .unknown, .never),
        apns(400, "BadExpirationDate", .unknown, .never),
        apns(400, "BadMessageId", .unknown, .never),
        apns(400, "BadPriority", .unknown, .never),
        apns(400, "InvalidPushType", .unknown, .never),
        apns(400, "PayloadEmpty", .unknown, .never),
        apns(413, "PayloadTooLarge", .unknown, .never),
        // The topic and the credential: nothing is accepted until the configuration is fixed.
        apns(400, "BadTopic", .auth, .afterFix, scope: .topic),
        apns(400, "MissingTopic", .auth, .afterFix, scope: .topic),
        apns(400, "TopicDisallowed", .auth, .afterFix, scope: .topic),
        // The next provider token is accepted.
        apns(403, "ExpiredProviderToken", .auth, .now),
        apns(403, "InvalidProviderToken", .auth, .afterFix),
        apns(403, "MissingProviderToken", .auth, .afterFix),
        apns(403, "Forbidden", .auth, .afterFix),
        apns(403, "BadCertificate", .auth, .afterFix),
        apns(403, "BadCertificateEnvironment", .auth, .afterFix),
        apns(403, "UnrelatedKeyIdInToken", .auth, .afterFix),
        apns(403, "BadEnvironmentKeyIdInToken", .auth, .afterFix),
        apns(403, "BadEnvironmentKeyInToken", .auth, .afterFix),
        apns(429, "TooManyProviderTokenUpdates", .auth, .backoff, scope: .credential),
        // Apple counts these by device.
        apns(429, "TooManyRequests", .unknown, .backoff, scope: .message),
        // Apple's servers and connections.
        apns(500, "InternalServerError", .provider5xx, .backoff),
        apns(503, "ServiceUnavailable", .provider5xx, .backoff),
        // Not documented; seen in answers of APNs.
        apns(503, "Service Unavailable", .provider5xx, .backoff),
        apns(503, "Shutdown", .provider5xx, .now, scope: .message),
        apns(400, "IdleTimeout", .network, .now, scope: .message),
        // Broadcasts: the channel is the address.
        apns(400, "ChannelNotRegistered", .tokenNotRegistered, .never, token: .deactivate),
        apns(400, "BadChannelId", .tokenInvalid, .never, token: .deactivate),
        apns(400, "MissingChannelId", .tokenInvalid, .never, token: .deactivate),
        apns(400, "FeatureNotEnabled", .auth, .afterFix, scope: .topic),
        apns(403, "TopicMismatch", .auth, .afterFix, scope: .topic),
        apns(400, "CannotCreateChannelConfig", .unknown, .afterFix, scope: .topic),
        apns(400, "BadRequestParams", .unknown, .never),
        apns(400, "BadRequestPayload", .unknown, .never),
        apns(400, "MissingPushType", .unknown, .never),
    ]

    private static let fcmErrors: [ProviderCode] = [
        fcm(404, "UNREGISTERED", .tokenNotRegistered, .never, token: .deactivate, scope: .message),
        // A field violation that names the token makes it `token_invalid`: `ReasonMapping.fcm`.
        fcm(400, "INVALID_ARGUMENT", .unknown, .never, scope: .message),
        // The contract counts every 403 of FCM as `auth`; the token belongs to another project.
        fcm(403, "SENDER_ID_MISMATCH", .auth, .never, token: .suspect, scope: .message),
        fcm(401, "THIRD_PARTY_AUTH_ERROR", .auth, .afterFix, scope: .platform),
        fcm(401, "APNS_AUTH_ERROR", .auth, .afterFix, scope: .platform),
        // Of the project; a quota of one device or topic concerns one message: `RefusalScope.fcm`.
        fcm(429, "QUOTA_EXCEEDED", .unknown, .backoff, scope: .quota),
        fcm(503, "UNAVAILABLE", .provider5xx, .backoff),
        fcm(500, "INTERNAL", .provider5xx, .backoff),
        fcm(500, "UNSPECIFIED_ERROR"),
    ]

    private static let adminErrors: [ProviderCode] = [
        admin("messaging/invalid-registration-token", .tokenInvalid, .never, token: .suspect),
        admin("messaging/mismatched-credential", .auth, .never, token: .suspect),
        admin("messaging/registration-token-not-registered", .tokenNotRegistered, .never, token: .deactivate),
        admin("messaging/installation-id-not-registered", .tokenNotRegistered, .never, token: .deactivate),
        admin("messaging/server-unavailable", .provider5xx, .backoff),
        admin("messaging/internal-error", .provider5xx, .backoff),
        admin("messaging/authentication-error", .auth, .afterFix),
        admin("messaging/third-party-auth-error", .auth, .afterFix),
        admin("messaging/invalid-apns-credentials", .auth, .afterFix),
        admin("messaging/message-rate-exceeded", .unknown, .backoff),
        admin("messaging/device-message-rate-exceeded", .unknown, .backoff),
        admin("messaging/topics-message-rate-exceeded", .unknown, .backoff),
    ]

    private static func apns(
        _ status: Int,
        _ code: String,
        _ reasonCode: ReasonCode,
        _ retry: RetryClass,
        token: TokenAction = .none,
        scope: RefusalScope? = nil
    ) -> ProviderCode {
        let meaning = Classification(reasonCode, retry: retry, token: token)
        return ProviderCode(source: .provider(.apns), code: code, status: status, classification: meaning, scope: scope)
    }

    private static func fcm(
        _ status: Int,
        _ code: String,
        _ reasonCode: ReasonCode,
        _ retry: RetryClass,
        token: TokenAction = .none,
        scope: RefusalScope? = nil
    ) -> ProviderCode {
        let meaning = Classification(reasonCode, retry: retry, token: token)
        return ProviderCode(source: .provider(.fcm), code: code, status: status, classification: meaning, scope: scope)
    }

    /// A code whose meaning is that of its status.
    private static func fcm(_ status: Int, _ code: String) -> ProviderCode {
        ProviderCode(source: .provider(.fcm), code: code, status: status, classification: nil, scope: nil)
    }

    private static func admin(_ code: String, _ reasonCode: ReasonCode, _ retry: RetryClass, token: TokenAction = .none) -> ProviderCode {
        let meaning = Classification(reasonCode, retry: retry, token: token)
        return ProviderCode(source: .firebaseAdmin, code: code, status: 0, classification: meaning, scope: nil)
    }
}
