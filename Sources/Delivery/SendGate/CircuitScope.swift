package import PushContract

/// Which pushes a refused credential concerns.
package struct CircuitScope: Sendable, Hashable {
    package var provider: Provider
    package var app: String
    package var environment: PushEnvironment
    /// Nil = every platform. FCM keeps one key for APNs and one for web push in each project; Android needs neither.
    package var platform: Platform?
    /// The credential that was refused, as `PushProvider.credential` names it.
    package var credential: String

    package init(provider: Provider, app: String, environment: PushEnvironment, platform: Platform? = nil, credential: String) {
        self.provider = provider
        self.app = app
        self.environment = environment
        self.platform = platform
        self.credential = credential
    }

    /// Whether a push of this scope would be refused, too, whatever credential is in use now.
    func covers(_ push: PushScope) -> Bool {
        provider == push.provider && app == push.app && environment == push.environment && (platform == nil || platform == push.platform)
    }
}
