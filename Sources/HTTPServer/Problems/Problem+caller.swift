import HTTPTypes
package import PushContract

/// Problems about who is calling.
extension Problem {
    /// 401: no credentials, or invalid ones.
    package static func unauthenticated(_ detail: String = "Send an API key: Authorization: Bearer pw_…") -> Problem {
        Problem(
            status: .unauthorized,
            code: "unauthenticated",
            title: "Authentication is required",
            detail: detail,
            headers: [.wwwAuthenticate: #"Bearer realm="pushwatch""#]
        )
    }

    /// 401: the API key is right, and has expired.
    package static func keyExpired(at end: Timestamp) -> Problem {
        Problem(
            status: .unauthorized,
            code: "key_expired",
            title: "The API key has expired",
            detail: "This API key expired at \(end.rfc3339). Use the key that replaces it.",
            headers: [.wwwAuthenticate: #"Bearer realm="pushwatch", error="invalid_token", error_description="expired""#]
        )
    }

    /// 403: the API key is limited to these apps, and this would concern another one.
    package static func appNotAllowed(_ apps: [String], pointer: String? = nil) -> Problem {
        Problem(
            status: .forbidden,
            code: "app_not_allowed",
            title: "Not one of the key's apps",
            detail: "This API key may write for \(apps.joined(separator: ", ")) only. Name one of its apps, or use another key.",
            pointer: pointer
        )
    }

    /// 403: the API key is limited to these apps, and what the route changes belongs to none.
    static func closedToLimitedKeys(_ apps: [String]) -> Problem {
        Problem(
            status: .forbidden,
            code: "app_not_allowed",
            title: "Not for a key that is limited to apps",
            detail: "This API key may write for \(apps.joined(separator: ", ")) only, and this call concerns every app. "
                + "Use a key without a limit to apps."
        )
    }

    /// 403: the caller is known, and lacks this scope.
    package static func missingScope(_ scope: Scope) -> Problem {
        Problem(
            status: .forbidden,
            code: "forbidden",
            title: "Not allowed",
            detail: "This call needs the scope \(scope.rawValue). Use an API key that has it.",
            headers: [.wwwAuthenticate: #"Bearer realm="pushwatch", error="insufficient_scope", scope="\#(scope.rawValue)""#]
        )
    }

    /// 403: the route is for app users, and the caller is none.
    static func userRequired() -> Problem {
        .forbidden("This call is made by an app user. Send the user's own token instead of an API key.")
    }

    /// 403: the caller is known, and is not the kind that may call this.
    package static func forbidden(_ detail: String) -> Problem {
        Problem(status: .forbidden, code: "forbidden", title: "Not allowed", detail: detail)
    }

    /// 429: the caller reads too much at a time.
    static func tooManyReads(running: Int) -> Problem {
        Problem(
            status: .tooManyRequests,
            code: "too_many_reads",
            title: "Too many reads at a time",
            detail: "\(running) GET requests of this caller are being answered, and others wait. Send fewer at a time.",
            retryAfter: .seconds(1)
        )
    }

    /// 429: an app's user sends too much at a time.
    static func tooManyRequests(running: Int) -> Problem {
        Problem(
            status: .tooManyRequests,
            code: "too_many_requests",
            title: "Too many requests at a time",
            detail: "\(running) requests of this user are being answered, and others wait. Send fewer at a time.",
            retryAfter: .seconds(1)
        )
    }

    /// 429: the caller's own quota is used up. Never used for our own overload, which is 503.
    package static func quotaExceeded(perMinute: Int, retryAfter: Duration) -> Problem {
        Problem(
            status: .tooManyRequests,
            code: "quota_exceeded",
            title: "Quota exceeded",
            detail: "This API key may make \(perMinute) requests a minute. Wait as long as Retry-After says, or send larger batches.",
            retryAfter: retryAfter
        )
    }
}
