package import PushContract

/// Which pushes one is like for the send gate: a circuit or a pause of one is of all of them.
package struct PushScope: Sendable, Hashable {
    package var provider: Provider
    @ExactText package var app: String
    package var environment: PushEnvironment
    package var platform: Platform
    /// The `apns-topic`; nil with FCM, and where it does not matter.
    package var topic: String?

    package init(provider: Provider, app: String, environment: PushEnvironment, platform: Platform, topic: String? = nil) {
        self.provider = provider
        self.app = app
        self.environment = environment
        self.platform = platform
        self.topic = topic
    }

    init(_ identity: AttemptIdentity, topic: String? = nil) {
        self.init(
            provider: identity.provider,
            app: identity.app,
            environment: identity.environment,
            platform: identity.platform,
            topic: topic
        )
    }

    /// Of the pushes that a circuit blocks.
    init(_ circuit: CircuitScope) {
        self.init(
            provider: circuit.provider,
            app: circuit.app,
            environment: circuit.environment,
            platform: circuit.platform ?? .ios,
            topic: circuit.topic
        )
    }

    /// Of pushes through APNs.
    package init(apns appEnvironment: AppEnvironment) {
        self.init(provider: .apns, app: appEnvironment.app, environment: appEnvironment.environment, platform: .ios)
    }

    var appEnvironment: AppEnvironment { AppEnvironment(app: app, environment: environment) }
}
