package import PushContract

/// What a provider made of one try, and what follows from it. Never holds a token.
package struct PushOutcome: Sendable, Hashable {
    /// `sent` when the provider accepted the push, else `failed`. Whether a token is switched off is decided elsewhere.
    package var status: AttemptStatus
    package var reasonCode: ReasonCode?
    /// The provider's own code, untouched; for a push that was not sent because of its content, the code it would have got.
    package var providerErrorCode: String?
    /// APNs: the `apns-id`. FCM: the message's name.
    package var providerMessageId: String?
    /// From handing the request over to the answer, or to the failure.
    package var latency: Duration
    package var retryClass: RetryClass
    package var tokenAction: TokenAction
    /// What the provider asks for; never to be undercut.
    package var retryAfter: Duration?
    /// APNs 410: since when the token is dead. Registered again after it, the token is alive.
    package var tokenInvalidSince: Timestamp?
    /// Nil when there was no answer.
    package var httpStatus: Int?
    /// The request was written and never answered: the push may have been delivered.
    package var outcomeUnknown: Bool
    /// One line for a log; empty after success.
    package var detail: String
    /// What else the answer is about; `message` after success.
    package var refusalScope = RefusalScope.message
    /// The provider's clock, where it told it.
    package var providerTime: Timestamp?

    /// The provider accepted the push.
    package static func sent(messageId: String?, httpStatus: Int, latency: Duration) -> PushOutcome {
        PushOutcome(
            status: .sent,
            providerMessageId: messageId,
            latency: latency,
            retryClass: .never,
            tokenAction: .none,
            httpStatus: httpStatus,
            outcomeUnknown: false,
            detail: ""
        )
    }

    /// It did not.
    package static func failed(
        _ classification: Classification,
        code: String? = nil,
        detail: String,
        httpStatus: Int? = nil,
        latency: Duration = .zero
    ) -> PushOutcome {
        PushOutcome(
            status: .failed,
            reasonCode: classification.reasonCode,
            providerErrorCode: code,
            latency: latency,
            retryClass: classification.retryClass,
            tokenAction: classification.tokenAction,
            httpStatus: httpStatus,
            outcomeUnknown: false,
            detail: detail
        )
    }

    /// What the failure means; nil after success.
    package var classification: Classification? {
        reasonCode.map { Classification($0, retry: retryClass, token: tokenAction) }
    }

    /// Refused for coming too often.
    package var isThrottled: Bool { httpStatus == 429 }
}
