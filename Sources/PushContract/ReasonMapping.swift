/// Maps a provider's answer to a reason code, a retry class and a token action: by the provider's code, never by a substring of a message.
///
/// The rows are in `ProviderCode.table`. An unknown code means what the HTTP status of the answer means.
public enum ReasonMapping {
    /// No answer: connect, DNS, TLS, reset, timeout, or GOAWAY before the answer.
    public static let network = Classification(.network, retry: .backoff)

    /// The meaning of an answer of APNs other than 200.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - reason: The `reason` of the body; nil for an answer without one.
    public static func apns(status: Int, reason: String?) -> Classification {
        if let reason, let known = ProviderCode.row(.provider(.apns), reason)?.classification { return known }
        switch status {
        case 410: return Classification(.tokenNotRegistered, retry: .never, token: .suspect)
        case 403: return Classification(.auth, retry: .afterFix)
        case 429: return Classification(.unknown, retry: .backoff)
        case 500...599: return Classification(.provider5xx, retry: .backoff)
        default: return Classification(.unknown, retry: .never)
        }
    }

    /// The meaning of an answer of FCM HTTP v1 other than 200.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - errorCode: `FcmError.errorCode` of the entry of `details` that has one; nil if none has.
    ///   - namesToken: Whether a field violation names `message.token` or `message.fid`.
    public static func fcm(status: Int, errorCode: String?, namesToken: Bool = false) -> Classification {
        if errorCode == "INVALID_ARGUMENT", namesToken { return Classification(.tokenInvalid, retry: .never, token: .suspect) }
        if let errorCode, let known = ProviderCode.row(.provider(.fcm), errorCode)?.classification { return known }
        switch status {
        // Our access token was refused: it is renewed, and the message is sent once more.
        case 401: return Classification(.auth, retry: .now)
        case 403: return Classification(.auth, retry: .afterFix)
        // Without an FcmError a 404 is a wrong project or path, never an inactive token.
        case 404: return Classification(.unknown, retry: .afterFix)
        case 429: return Classification(.unknown, retry: .backoff)
        case 500...599: return Classification(.provider5xx, retry: .backoff)
        default: return Classification(.unknown, retry: .never)
        }
    }

    /// The meaning of the provider code for which a token became suspect or inactive.
    package static func tokenCause(_ code: String, provider: Provider) -> Classification {
        if provider == .fcm { return fcm(status: 400, errorCode: code, namesToken: true) }
        return ProviderCode.row(.provider(provider), code)?.classification ?? Classification(.unknown, retry: .never)
    }

    /// The meaning of a code of the Firebase Admin SDKs (`messaging/…`), as senders report it in attempts.
    public static func firebaseAdmin(code: String) -> Classification {
        ProviderCode.row(.firebaseAdmin, code)?.classification ?? Classification(.unknown, retry: .never)
    }

    /// The meaning of a refusal by Google's OAuth token endpoint: the credential is refused, or the endpoint is out of order or too busy.
    public static func oauth(status: Int, error: String?) -> Classification {
        if (500...599).contains(status) { return Classification(.provider5xx, retry: .backoff) }
        if isUnavailable(oauthStatus: status) { return network }
        return Classification(.auth, retry: .afterFix)
    }

    /// Whether an answer of Google's OAuth token endpoint says nothing about the credential.
    package static func isUnavailable(oauthStatus status: Int) -> Bool { status >= 500 || status == 408 || status == 429 }
}
