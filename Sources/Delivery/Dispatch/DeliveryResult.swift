package import Providers
package import PushContract

/// What a provider made of one try.
package struct DeliveryResult: Sendable {
    package enum Outcome: Sendable, Hashable {
        case accepted(providerMessageId: String?)
        case refused(Refusal)
    }

    /// Why a try did not succeed, and what that means.
    package struct Refusal: Sendable, Hashable {
        package var classification: Classification
        /// The provider's own code, untouched.
        package var providerErrorCode: String?
        /// Since when the token is dead, if the provider says so.
        package var goneAt: Timestamp?
        package var retryAfter: Duration?
        package var isThrottled: Bool
        /// Written, and never answered.
        package var isOutcomeUnknown: Bool
        /// What else it is about.
        package var refusalScope: RefusalScope
        /// The message names its topic itself.
        package var isOwnTopic: Bool
        /// The provider said so; else nothing was heard of it.
        package var wasAnswered: Bool

        package init(
            _ classification: Classification,
            providerErrorCode: String? = nil,
            goneAt: Timestamp? = nil,
            retryAfter: Duration? = nil,
            isThrottled: Bool = false,
            isOutcomeUnknown: Bool = false,
            refusalScope: RefusalScope = .message,
            isOwnTopic: Bool = false,
            wasAnswered: Bool = true
        ) {
            self.classification = classification
            self.providerErrorCode = providerErrorCode
            self.goneAt = goneAt
            self.retryAfter = retryAfter
            self.isThrottled = isThrottled
            self.isOutcomeUnknown = isOutcomeUnknown
            self.refusalScope = refusalScope
            self.isOwnTopic = isOwnTopic
            self.wasAnswered = wasAnswered
        }
    }

    package var outcome: Outcome
    /// From the start of the request to the answer; nil when there was none.
    package var latency: Duration?
    package var pushType: String?

    package init(_ outcome: Outcome, latency: Duration? = nil, pushType: String? = nil) {
        self.outcome = outcome
        self.latency = latency
        self.pushType = pushType
    }
}

/// Makes one try. Never throws: whatever happens is a result.
package protocol DeliverySender: Sendable {
    /// - Parameter permit: only `DeliveryRunner` has one to give, and it writes what comes of it.
    func send(_ delivery: ClaimedDelivery, to token: PushToken, permit: consuming SendPermit) async -> DeliveryResult

    /// Names the credential that pushes of this place are sent with, without telling it; "" when there is none.
    func credential(for provider: Provider, app: String, environment: PushEnvironment) -> String
}
