package import PushContract

/// Where one push goes. Describes itself without its token, so that it cannot slip into a log or an error.
package struct PushTarget: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var provider: Provider
    /// The raw token; for the provider's request only.
    package var token: String
    package var environment: PushEnvironment
    /// The bundle id, or the FCM app.
    package var app: String

    package init(provider: Provider, token: String, environment: PushEnvironment = .production, app: String) {
        self.provider = provider
        self.token = token
        self.environment = environment
        self.app = app
    }

    package var description: String { "PushTarget(\(provider.rawValue), \(environment.rawValue), \(app), token redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["provider": provider, "environment": environment, "app": app]) }

    /// A provider's words without the token, should it have repeated it.
    func redacting(_ text: String) -> String {
        guard !token.isEmpty else { return text }
        return text.split(separator: token, omittingEmptySubsequences: false).joined(separator: "(token)")
    }
}
