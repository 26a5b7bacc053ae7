package import Providers
package import PushContract

/// Finds who carries pushes to an app; nil when no credential for it is configured.
package typealias ProviderLookup = @Sendable (_ provider: Provider, _ app: String, _ environment: PushEnvironment) -> (any PushProvider)?

/// Makes tries through the configured providers.
package struct ProviderSender: DeliverySender {
    private let lookup: ProviderLookup
    private let now: @Sendable () -> Timestamp

    package init(lookup: @escaping ProviderLookup, now: @escaping @Sendable () -> Timestamp = { .now() }) {
        self.lookup = lookup
        self.now = now
    }

    /// One credential a provider.
    package init(_ providers: [Provider: any PushProvider]) {
        self.init(lookup: { provider, _, _ in providers[provider] })
    }

    package func send(_ delivery: ClaimedDelivery, to token: PushToken, permit: consuming SendPermit) async -> DeliveryResult {
        guard let provider = lookup(delivery.provider, delivery.app, delivery.environment) else {
            // Held until somebody configures it, like a credential that is refused.
            return DeliveryResult(
                .refused(.init(Classification(.auth, retry: .afterFix), providerErrorCode: "NoCredentials", refusalScope: .credential))
            )
        }
        let message: PushMessage
        do throws(PushError) {
            message = try PushMessage(content: delivery.content, expiresAt: delivery.expiresAt)
        } catch {
            return DeliveryResult(.refused(.init(Classification(.unknown, retry: .never), providerErrorCode: error.code)))
        }
        let target = PushTarget(provider: delivery.provider, token: token.rawValue, environment: delivery.environment, app: delivery.app)
        // The same for every try of one delivery: a repetition after an unknown outcome is then known as one.
        let outcome = await provider.send(message, to: target, attemptId: delivery.attemptIdentity(token).operationKey, now: now())
        return DeliveryResult(outcome, pushType: message.pushType.rawValue, isOwnTopic: message.topic != nil)
    }

    package func credential(for provider: Provider, app: String, environment: PushEnvironment) -> String {
        lookup(provider, app, environment)?.credential ?? ""
    }
}

extension DeliveryResult {
    init(_ outcome: PushOutcome, pushType: String, isOwnTopic: Bool = false) {
        let answered = outcome.httpStatus != nil
        guard let classification = outcome.classification else {
            self.init(.accepted(providerMessageId: outcome.providerMessageId), latency: outcome.latency, pushType: pushType)
            return
        }
        let refusal = Refusal(
            classification,
            providerErrorCode: outcome.providerErrorCode,
            goneAt: outcome.tokenInvalidSince,
            retryAfter: outcome.retryAfter,
            isThrottled: outcome.isThrottled,
            isOutcomeUnknown: outcome.outcomeUnknown,
            refusalScope: outcome.refusalScope,
            isOwnTopic: isOwnTopic,
            wasAnswered: answered
        )
        self.init(.refused(refusal), latency: answered ? outcome.latency : nil, pushType: pushType)
    }
}
