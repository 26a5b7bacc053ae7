package import PushContract

/// The target of one push. Its description omits the token, so that it cannot reach a log or an error.
package struct PushTarget: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var provider: Provider
    /// The raw token; for the provider's request only.
    package var token: String
    package var environment: PushEnvironment
    /// The bundle id, or the FCM app.
    package var app: String

    /// The kind of address in `token`.
    package var address: PushAddress
    /// Live Activities through FCM: the activity's push-to-start or update token; `token` is the app's registration token.
    package var liveActivityToken: String?

    package init(
        provider: Provider,
        token: String,
        environment: PushEnvironment = .production,
        app: String,
        address: PushAddress = .token,
        liveActivityToken: String? = nil
    ) {
        self.provider = provider
        self.token = token
        self.environment = environment
        self.app = app
        self.address = address
        self.liveActivityToken = liveActivityToken
    }

    package var description: String { "PushTarget(\(provider.rawValue), \(environment.rawValue), \(app), token redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["provider": provider, "environment": environment, "app": app]) }

    /// A provider's text with the token replaced, in case it repeats it.
    func redacting(_ text: String) -> String {
        [token, liveActivityToken ?? ""].reduce(text, TokenRemoval.of)
    }
}
