package import PushContract

/// Why a circuit is open.
package enum CircuitKind: String, Sendable, Hashable, CaseIterable {
    /// The provider refuses the credential or the topic.
    case refused
    /// The provider answers every request with a server error.
    case failing
    /// The provider cannot be reached, or does not answer.
    case unreachable

    /// What pushes that it blocks would fail with.
    package var reasonCode: ReasonCode {
        switch self {
        case .refused: .auth
        case .failing: .provider5xx
        case .unreachable: .network
        }
    }

    /// Whether the provider is down, and not our configuration wrong.
    var isOutage: Bool { self != .refused }
}

/// Which pushes a circuit blocks.
package struct CircuitScope: Sendable, Hashable {
    package var kind: CircuitKind
    package var provider: Provider
    @ExactText package var app: String
    package var environment: PushEnvironment
    /// Nil = every platform. FCM keeps one key for APNs and one for web push in each project; Android needs neither.
    package var platform: Platform?
    /// The `apns-topic` that is refused; nil = every topic.
    package var topic: String?
    /// The credential in use, as `PushProvider.credential` names it.
    package var credential: String

    package init(
        _ kind: CircuitKind = .refused,
        provider: Provider,
        app: String,
        environment: PushEnvironment,
        platform: Platform? = nil,
        topic: String? = nil,
        credential: String
    ) {
        self.kind = kind
        self.provider = provider
        self.app = app
        self.environment = environment
        self.platform = platform
        self.topic = topic
        self.credential = credential
    }

    /// Whether a push of this scope would fail, too, whatever credential is in use now.
    func covers(_ push: PushScope) -> Bool {
        provider == push.provider && $app == push.$app && environment == push.environment && (platform == nil || platform == push.platform)
            && (topic == nil || topic == push.topic)
    }
}
