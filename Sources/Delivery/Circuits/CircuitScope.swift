package import PushContract

/// Which deliveries a refused credential concerns.
package struct CircuitScope: Sendable, Hashable {
    package var provider: Provider
    package var app: String
    package var environment: PushEnvironment
    /// Nil = every platform. FCM keeps one key for APNs and one for web push in each project; Android needs neither.
    package var platform: Platform?
    /// The credential that was refused, as `DeliverySender.credential` names it.
    package var credential: String

    package init(provider: Provider, app: String, environment: PushEnvironment, platform: Platform? = nil, credential: String) {
        self.provider = provider
        self.app = app
        self.environment = environment
        self.platform = platform
        self.credential = credential
    }

    /// Whether the delivery would meet the same refusal, whatever credential is in use now.
    package func covers(_ delivery: ClaimedDelivery) -> Bool {
        provider == delivery.provider && app == delivery.app && environment == delivery.environment
            && (platform == nil || platform == delivery.platform)
    }
}
