/// From a provider's own code to the closed set of buckets. By code, never by a substring of a message.
///
/// Sources: the lifecycle contract's "Reason code mapping"; Apple, "Handling notification responses from APNs"; Google,
/// "FCM ErrorCode".
public enum ReasonMapping {
    /// Connect, DNS, TLS, reset, timeout, GOAWAY before an answer.
    public static let network = Classification(.network, retry: .backoff)

    /// An APNs answer: HTTP status and the `reason` string, if the body had one.
    public static func apns(status: Int, reason: String?) -> Classification {
        if let reason, let known = apnsReasons[reason] { return known }
        switch status {
        case 410: return Classification(.tokenNotRegistered, retry: .never, token: .suspect)
        case 403: return Classification(.auth, retry: .afterFix)
        case 429: return Classification(.unknown, retry: .backoff)
        case 500...599: return Classification(.provider5xx, retry: .backoff)
        default: return Classification(.unknown, retry: .never)
        }
    }

    /// An FCM HTTP v1 answer.
    ///
    /// - Parameters:
    ///   - errorCode: `FcmError.errorCode` from whichever entry of `details` has it; nil when none has.
    ///   - namesToken: whether a field violation names `message.token` or `message.fid`.
    public static func fcm(status: Int, errorCode: String?, namesToken: Bool = false) -> Classification {
        if errorCode == "INVALID_ARGUMENT" {
            return namesToken
                ? Classification(.tokenInvalid, retry: .never, token: .suspect) : Classification(.unknown, retry: .never)
        }
        if let errorCode, let known = fcmErrors[errorCode] { return known }
        switch status {
        // Our own access token: renewed and tried once more.
        case 401: return Classification(.auth, retry: .now)
        case 403: return Classification(.auth, retry: .afterFix)
        // Without an FcmError a 404 is a wrong project or path, never a dead token.
        case 404: return Classification(.unknown, retry: .afterFix)
        case 429: return Classification(.unknown, retry: .backoff)
        case 500...599: return Classification(.provider5xx, retry: .backoff)
        default: return Classification(.unknown, retry: .never)
        }
    }

    /// A code of the Firebase Admin SDKs (`messaging/…`), as senders report it.
    public static func firebaseAdmin(code: String) -> Classification {
        adminCodes[code] ?? Classification(.unknown, retry: .never)
    }

    /// A refusal of Google's token endpoint.
    public static func oauth(status: Int, error: String?) -> Classification {
        if status >= 500 { return network }
        return Classification(.auth, retry: .afterFix)
    }

    private static let apnsReasons: [String: Classification] = {
        var table: [String: Classification] = [
            "Unregistered": Classification(.tokenNotRegistered, retry: .never, token: .deactivate),
            "ExpiredToken": Classification(.tokenNotRegistered, retry: .never, token: .deactivate),
            "BadDeviceToken": Classification(.tokenInvalid, retry: .never, token: .suspect),
            "DeviceTokenNotForTopic": Classification(.tokenInvalid, retry: .never, token: .suspect),
            "ExpiredProviderToken": Classification(.auth, retry: .now),
            "UnrelatedKeyIdInToken": Classification(.auth, retry: .afterFix),
            "BadEnvironmentKeyIdInToken": Classification(.auth, retry: .afterFix),
            "BadEnvironmentKeyInToken": Classification(.auth, retry: .afterFix),
            "TooManyProviderTokenUpdates": Classification(.auth, retry: .backoff),
            "TooManyRequests": Classification(.unknown, retry: .backoff),
            "InternalServerError": Classification(.provider5xx, retry: .backoff),
            "ServiceUnavailable": Classification(.provider5xx, retry: .backoff),
            "Service Unavailable": Classification(.provider5xx, retry: .backoff),
            "Shutdown": Classification(.provider5xx, retry: .now),
            "IdleTimeout": Classification(.network, retry: .now),
            // Broadcasts: what is dead or wrong is the channel.
            "ChannelNotRegistered": Classification(.tokenNotRegistered, retry: .never, token: .deactivate),
            "BadChannelId": Classification(.tokenInvalid, retry: .never, token: .deactivate),
            "MissingChannelId": Classification(.tokenInvalid, retry: .never, token: .deactivate),
            "CannotCreateChannelConfig": Classification(.unknown, retry: .afterFix),
        ]
        for reason in [
            "BadTopic", "MissingTopic", "TopicDisallowed", "InvalidProviderToken", "MissingProviderToken", "Forbidden",
            "BadCertificate", "BadCertificateEnvironment", "FeatureNotEnabled", "TopicMismatch",
        ] {
            table[reason] = Classification(.auth, retry: .afterFix)
        }
        for reason in [
            "MissingDeviceToken", "BadPath", "MethodNotAllowed", "DuplicateHeaders", "BadCollapseId", "BadExpirationDate",
            "BadMessageId", "BadPriority", "InvalidPushType", "PayloadEmpty", "PayloadTooLarge", "BadRequestParams", "BadRequestPayload",
            "MissingPushType",
        ] {
            table[reason] = Classification(.unknown, retry: .never)
        }
        return table
    }()

    private static let fcmErrors: [String: Classification] = [
        "UNREGISTERED": Classification(.tokenNotRegistered, retry: .never, token: .deactivate),
        "SENDER_ID_MISMATCH": Classification(.auth, retry: .never, token: .suspect),
        "THIRD_PARTY_AUTH_ERROR": Classification(.auth, retry: .afterFix),
        "APNS_AUTH_ERROR": Classification(.auth, retry: .afterFix),
        "QUOTA_EXCEEDED": Classification(.unknown, retry: .backoff),
        "UNAVAILABLE": Classification(.provider5xx, retry: .backoff),
        "INTERNAL": Classification(.provider5xx, retry: .backoff),
    ]

    private static let adminCodes: [String: Classification] = [
        "messaging/invalid-registration-token": Classification(.tokenInvalid, retry: .never, token: .suspect),
        "messaging/mismatched-credential": Classification(.auth, retry: .never, token: .suspect),
        "messaging/registration-token-not-registered": Classification(.tokenNotRegistered, retry: .never, token: .deactivate),
        "messaging/installation-id-not-registered": Classification(.tokenNotRegistered, retry: .never, token: .deactivate),
        "messaging/server-unavailable": Classification(.provider5xx, retry: .backoff),
        "messaging/internal-error": Classification(.provider5xx, retry: .backoff),
        "messaging/authentication-error": Classification(.auth, retry: .afterFix),
        "messaging/third-party-auth-error": Classification(.auth, retry: .afterFix),
        "messaging/invalid-apns-credentials": Classification(.auth, retry: .afterFix),
        "messaging/message-rate-exceeded": Classification(.unknown, retry: .backoff),
        "messaging/device-message-rate-exceeded": Classification(.unknown, retry: .backoff),
        "messaging/topics-message-rate-exceeded": Classification(.unknown, retry: .backoff),
    ]
}
