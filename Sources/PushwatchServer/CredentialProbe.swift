package import Logging
import Providers
package import PushContract

/// Tries each configured credential with a harmless request: a push to a token that cannot exist. A provider that judges the token has
/// accepted the credential.
package enum CredentialProbe {
    /// What one credential is worth.
    package struct Verdict: Sendable, Encodable {
        package var provider: Provider
        package var environment: PushEnvironment
        /// `accepted`, `refused` or `unreachable`.
        package var state: String
        package var detail: String
    }

    /// Every configured credential, APNs in both environments.
    package static func run(_ configuration: ServerConfiguration, app: String, now: Timestamp, logger: Logger) async throws -> [Verdict] {
        let providers = try PushProviders.make(configuration, logger: logger)
        var verdicts: [Verdict] = []
        for provider in Provider.allCases {
            guard let carrier = providers[provider] else { continue }
            for environment in provider == .apns ? PushEnvironment.allCases : [.production] {
                let target = PushTarget(provider: provider, token: noToken(provider), environment: environment, app: app)
                let message = PushMessage(title: "credential check", expiresAt: now)
                let outcome = await carrier.send(message, to: target, attemptId: "credential-check", now: now)
                verdicts.append(verdict(outcome, provider, environment))
            }
        }
        return verdicts
    }

    private static func noToken(_ provider: Provider) -> String {
        provider == .apns ? String(repeating: "0", count: 64) : "credential-check:no-such-token"
    }

    private static func verdict(_ outcome: PushOutcome, _ provider: Provider, _ environment: PushEnvironment) -> Verdict {
        let code = outcome.providerErrorCode ?? outcome.httpStatus.map(String.init) ?? "no answer"
        switch outcome.reasonCode {
        case .auth:
            return Verdict(provider: provider, environment: environment, state: "refused", detail: "\(code). \(outcome.detail)")
        case .network, .provider5xx:
            return Verdict(provider: provider, environment: environment, state: "unreachable", detail: "\(code). \(outcome.detail)")
        default:
            return Verdict(
                provider: provider,
                environment: environment,
                state: "accepted",
                detail: "answered \(code) to a token that cannot exist"
            )
        }
    }
}
