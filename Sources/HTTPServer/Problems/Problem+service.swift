import HTTPTypes

/// Problems that are ours: the same request may well succeed later.
extension Problem {
    /// 500 for an unexpected error. The error is in the log under the request id, and only there.
    static let internalError = Problem(
        status: .internalServerError,
        code: "internal_error",
        title: "Internal error",
        detail: "Something failed on our side. The log has the reason under this requestId."
    )

    /// 503: something we need (the database, as a rule) is away.
    package static func unavailable(_ detail: String, retryAfter: Duration = .seconds(2)) -> Problem {
        Problem(status: .serviceUnavailable, code: "unavailable", title: "Unavailable", detail: detail, retryAfter: retryAfter)
    }

    /// 503: we are full. Nothing was stored.
    package static func overloaded(retryAfter: Duration = .seconds(1)) -> Problem {
        Problem(
            status: .serviceUnavailable,
            code: "overloaded",
            title: "Overloaded",
            detail: "Too much work is waiting. Nothing was stored; send the request again after Retry-After.",
            retryAfter: retryAfter
        )
    }
}
