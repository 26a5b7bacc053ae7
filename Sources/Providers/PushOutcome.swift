package import HTTPClient
package import PushContract
import ServiceKit

/// The outcome of one attempt at a provider, and its consequences. Never contains a token.
package struct PushOutcome: Sendable, Hashable {
    /// `sent` if the provider accepted the push, otherwise `failed`. Whether the token is deactivated is decided elsewhere.
    package var status: AttemptStatus
    package var reasonCode: ReasonCode?
    /// The provider's own code, at most 200 characters and without control characters; for a push that was not sent because of its content,
    /// the code for that fault.
    package var providerErrorCode: String?
    /// APNs: the `apns-id`. FCM: the message's name.
    package var providerMessageId: String?
    /// It is the `apns-id` that the request had, which `APNsMessageId` derives.
    package var hasDerivedMessageId = false
    /// From passing the request to the client to the answer or the failure.
    package var latency: Duration
    /// From writing the request to the answer, without our own queueing; nil if there was no answer.
    package var responseTime: Duration?
    package var retryClass: RetryClass
    package var tokenAction: TokenAction
    /// The wait requested by the provider; a lower limit for the retry.
    package var retryAfter: Duration?
    /// APNs 410: since when the token is invalid. A registration after this moment makes it valid again.
    package var tokenInvalidSince: Timestamp?
    /// Nil if there was no answer.
    package var httpStatus: Int?
    /// The request was written and not answered: the push may have been delivered.
    package var outcomeUnknown: Bool
    /// What ended the wait for the answer; nil if there was an answer, or the request was not written.
    package var unansweredKind: OutboundFailure.Kind?
    /// One line for a log; empty after success.
    package var detail: String
    /// Which other deliveries the answer concerns; `message` after success.
    package var refusalScope = RefusalScope.message
    /// The `Date` header.
    package var providerDate: String?
    /// The provider's clock. Hardly any answer is asked for it.
    package var providerTime: Timestamp? { providerDate.flatMap(RetryAfter.date) }

    /// The provider accepted the push.
    package static func sent(messageId: String?, httpStatus: Int, latency: Duration) -> PushOutcome {
        PushOutcome(
            status: .sent,
            providerMessageId: ProviderText.messageId(messageId),
            latency: latency,
            retryClass: .never,
            tokenAction: .none,
            httpStatus: httpStatus,
            outcomeUnknown: false,
            detail: ""
        )
    }

    /// The provider refused the push, or there was no answer.
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
            providerErrorCode: code.map { ProviderText.code($0) },
            latency: latency,
            retryClass: classification.retryClass,
            tokenAction: classification.tokenAction,
            httpStatus: httpStatus,
            outcomeUnknown: false,
            detail: ProviderText.detail(detail)
        )
    }

    /// The meaning of the failure; nil after success.
    package var classification: Classification? {
        reasonCode.map { Classification($0, retry: retryClass, token: tokenAction) }
    }

    /// Whether the provider asked for a lower rate.
    package var isThrottled: Bool { httpStatus == 429 }
}
