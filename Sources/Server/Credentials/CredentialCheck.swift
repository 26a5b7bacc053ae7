import Foundation
package import Logging
import Providers
package import PushContract

/// Tests each configured credential with a push to a token that cannot exist. A provider that rejects the token has accepted the
/// credential.
package enum CredentialCheck {
    /// The result of testing one credential.
    package struct Verdict: Sendable, Encodable {
        package enum State: String, Sendable, Encodable {
            case accepted, refused
            /// Nothing is known of the credential: no answer, a server error, or no provider at the endpoint.
            case unreachable

            package var text: String { self == .unreachable ? "not tested" : rawValue }
        }

        package var credential: String
        package var provider: Provider
        package var environment: PushEnvironment
        /// The app that it was tried with, and where.
        package var app: String
        package var endpoint: String
        package var state: State
        package var detail: String
        /// Days since the key's file was written; keys are best replaced now and then.
        package var keyAgeDays: Int?
        /// How far this machine's clock is ahead of the provider's, where the provider sends its time; some minutes make signatures fail.
        package var clockAheadSeconds: Int?
    }

    /// What a credential for all apps is tested with.
    package static let usualApp = "com.example.app"

    /// Trials under way at once.
    private static let limit = 8

    /// Every configured credential, in each environment it serves, several at once.
    /// - Parameter app: the bundle id to test a credential with that serves all apps.
    package static func run(
        _ configuration: ServerConfiguration,
        app: String,
        now: @escaping @Sendable () -> Timestamp = { .now() },
        logger: Logger
    ) async throws -> [Verdict] {
        let entries = try PushProviders.entries(configuration)
        return await withTaskGroup(of: (Int, [Verdict]).self) { group in
            var verdicts = Array(repeating: [Verdict](), count: entries.count)
            for (index, entry) in entries.enumerated() {
                if index >= limit, let (index, found) = await group.next() { verdicts[index] = found }
                group.addTask { (index, await run(entry, app: app, now: now, logger: logger)) }
            }
            for await (index, found) in group { verdicts[index] = found }
            return verdicts.flatMap(\.self)
        }
    }

    private static func run(
        _ entry: CredentialEntry,
        app: String,
        now: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) async -> [Verdict] {
        do throws(ConfigurationError) {
            let provider = try PushProviders.make(entry, logger: logger)
            return await withTaskGroup(of: (Int, Verdict).self) { group in
                for (index, environment) in entry.environments.enumerated() {
                    group.addTask { (index, await check(provider, entry, environment, app: app, now: now)) }
                }
                return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        } catch {
            return entry.environments.map { report(entry, $0, app: app, .refused, error.description, now: now()) }
        }
    }

    /// The worst verdict over the credential's environments.
    static func verdict(_ provider: any PushProvider, _ entry: CredentialEntry, now: @Sendable () -> Timestamp) async -> Verdict {
        var worst: Verdict?
        for environment in entry.environments {
            let verdict = await check(provider, entry, environment, app: usualApp, now: now)
            // A key of one environment alone is refused in the other; one acceptance is enough.
            if verdict.state == .accepted { return verdict }
            worst = verdict
        }
        return worst ?? report(entry, .production, app: usualApp, .unreachable, "there is no endpoint", now: now())
    }

    private static func check(
        _ provider: any PushProvider,
        _ entry: CredentialEntry,
        _ environment: PushEnvironment,
        app: String,
        now: @Sendable () -> Timestamp
    ) async -> Verdict {
        let start = now()
        let target = PushTarget(
            provider: entry.provider,
            token: entry.provider.tokenForm == .hexadecimal ? String(repeating: "0", count: 64) : "credential-check:no-such-token",
            environment: environment,
            app: entry.apps.min() ?? app
        )
        var message = PushMessage(title: "credential check", expiresAt: start)
        message.validateOnly = entry.provider == .fcm
        let outcome = await provider.send(message, to: target, attemptId: "credential-check", now: start)
        let end = now()
        let code = outcome.providerErrorCode ?? outcome.httpStatus.map(String.init) ?? "no answer"
        let description = outcome.detail.contains(code) ? outcome.detail : "\(code). \(outcome.detail)"
        let isJudged = outcome.status == .sent || outcome.providerErrorCode.map { !["BadPath", "MethodNotAllowed"].contains($0) } ?? false
        let (state, detail): (Verdict.State, String) =
            switch outcome.reasonCode {
            // The key is fine and the app is not its own: a matter of the app it was tried with.
            case .auth where outcome.refusalScope == .topic && entry.apps.isEmpty:
                (.accepted, "answered \(code): the key may not push to this app")
            case .auth: (.refused, description)
            case .network, .provider5xx: (.unreachable, description)
            case .unknown where outcome.refusalScope == .credential: (.refused, description)
            // Any web server has a 404.
            case _ where !isJudged:
                (
                    .unreachable,
                    "answered \(code) and did not look at the push: is \(entry.endpoint(environment) ?? "") the endpoint of \(entry.provider.rawValue)?"
                )
            default: (.accepted, "answered \(code) to a token that cannot exist")
            }
        var verdict = report(entry, environment, app: target.app, state, detail, now: end)
        verdict.clockAheadSeconds = outcome.providerTime.map { Int(end.seconds - $0.seconds) }
        return verdict
    }

    private static func report(
        _ entry: CredentialEntry,
        _ environment: PushEnvironment,
        app: String,
        _ state: Verdict.State,
        _ detail: String,
        now: Timestamp
    ) -> Verdict {
        Verdict(
            credential: entry.name,
            provider: entry.provider,
            environment: environment,
            app: app,
            endpoint: entry.endpoint(environment) ?? "",
            state: state,
            detail: detail,
            keyAgeDays: entry.keyAgeDays(now: now)
        )
    }
}
