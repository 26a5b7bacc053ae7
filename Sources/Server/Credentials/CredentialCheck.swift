import Foundation
package import Logging
import Providers
package import PushContract

/// Tests each configured credential with a push to a token that cannot exist. A provider that rejects the token has accepted the
/// credential.
package enum CredentialCheck {
    /// The result of testing one credential.
    package struct Verdict: Sendable, Encodable {
        package enum State: String, Sendable, Encodable { case accepted, refused, unreachable }

        package var credential: String
        package var provider: Provider
        package var environment: PushEnvironment
        package var state: State
        package var detail: String
        /// Days since the key's file was written; keys are best replaced now and then.
        package var keyAgeDays: Int?
        /// How far this machine's clock is ahead of the provider's, where the provider sends its time; signatures fail if it is some minutes off.
        package var clockAheadSeconds: Int?
    }

    /// What a credential for all apps is tested with.
    package static let usualApp = "com.example.app"

    /// Every configured credential, in each environment it serves.
    /// - Parameter app: the bundle id to test a credential with that serves all apps.
    package static func run(_ configuration: ServerConfiguration, app: String, now: Timestamp, logger: Logger) async throws -> [Verdict] {
        var verdicts: [Verdict] = []
        for entry in try PushProviders.entries(configuration) {
            do {
                let provider = try PushProviders.make(entry, logger: logger)
                for environment in entry.environments { verdicts.append(await check(provider, entry, environment, app: app, now: now)) }
            } catch {
                verdicts += entry.environments.map { report(entry, $0, .refused, error.description, now: now) }
            }
        }
        return verdicts
    }

    /// The worst verdict over the credential's environments.
    static func verdict(_ provider: any PushProvider, _ entry: CredentialEntry, now: Timestamp) async -> Verdict {
        var worst: Verdict?
        for environment in entry.environments {
            let verdict = await check(provider, entry, environment, app: usualApp, now: now)
            // A key of one environment alone is refused in the other; one acceptance is enough.
            if verdict.state == .accepted { return verdict }
            worst = verdict
        }
        return worst ?? report(entry, .production, .unreachable, "there is no endpoint", now: now)
    }

    private static func check(
        _ provider: any PushProvider,
        _ entry: CredentialEntry,
        _ environment: PushEnvironment,
        app: String,
        now: Timestamp
    ) async -> Verdict {
        let target = PushTarget(
            provider: entry.provider,
            token: entry.provider.tokenForm == .hexadecimal ? String(repeating: "0", count: 64) : "credential-check:no-such-token",
            environment: environment,
            app: entry.apps.min() ?? app
        )
        var message = PushMessage(title: "credential check", expiresAt: now)
        message.validateOnly = entry.provider == .fcm
        let outcome = await provider.send(message, to: target, attemptId: "credential-check", now: now)
        let code = outcome.providerErrorCode ?? outcome.httpStatus.map(String.init) ?? "no answer"
        var verdict =
            switch outcome.reasonCode {
            // The key is fine and the app is not its own: a matter of the app it was tried with.
            case .auth where outcome.refusalScope == .topic && entry.apps.isEmpty:
                report(entry, environment, .accepted, "answered \(code): the key may not push to \(target.app)", now: now)
            case .auth: report(entry, environment, .refused, "\(code). \(outcome.detail)", now: now)
            case .network, .provider5xx: report(entry, environment, .unreachable, "\(code). \(outcome.detail)", now: now)
            case .unknown where outcome.refusalScope == .credential:
                report(entry, environment, .refused, "\(code). \(outcome.detail)", now: now)
            default: report(entry, environment, .accepted, "answered \(code) to a token that cannot exist", now: now)
            }
        verdict.clockAheadSeconds = outcome.providerTime.map { Int(now.seconds - $0.seconds) }
        return verdict
    }

    private static func report(
        _ entry: CredentialEntry,
        _ environment: PushEnvironment,
        _ state: Verdict.State,
        _ detail: String,
        now: Timestamp
    ) -> Verdict {
        Verdict(
            credential: entry.name,
            provider: entry.provider,
            environment: environment,
            state: state,
            detail: detail,
            keyAgeDays: entry.keyAgeDays(now: now)
        )
    }
}
