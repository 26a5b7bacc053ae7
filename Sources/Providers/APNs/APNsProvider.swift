package import CurlHTTP
package import Logging
package import PushContract

/// Sends to APNs with one team's key. Thread-safe.
///
/// Teams must not share connections: give each provider a client of its own, made with `APNsConfiguration.client`.
package struct APNsProvider: PushProvider {
    private let configuration: APNsConfiguration
    private let client: CurlClient
    private let tokens: APNsTokens
    private let metrics = ProviderMetrics(.apns)
    private let logger: Logger

    /// - Throws: when team id, key id or key cannot be right.
    package init(configuration: APNsConfiguration, client: CurlClient, logger: Logger) throws(CredentialError) {
        let key = try APNsSigningKey(teamId: configuration.teamId, keyId: configuration.keyId, pem: configuration.privateKey)
        self.configuration = configuration
        self.client = client
        self.logger = logger
        tokens = APNsTokens(key: key)
    }

    package func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        do throws(PushFault) {
            try APNsRules.check(message, app: target.app)
        } catch {
            return .refusedHere(error)
        }
        guard let path = APNsRequest.path(target.token), let base = configuration.endpoints[target.environment] else {
            return .failed(
                Classification(.tokenInvalid, retry: .never, token: .suspect),
                detail: "Not sent: the token is not hexadecimal, or there is no endpoint for \(target.environment.rawValue)."
            )
        }
        let outcome = await send(message, to: target, url: base + path, attemptId: attemptId, now: now)
        metrics.note(outcome)
        return outcome
    }

    private func send(
        _ message: PushMessage,
        to target: PushTarget,
        url: String,
        attemptId: String,
        now: Timestamp
    ) async -> PushOutcome {
        let body = APNsPayload.bytes(message)
        func request(_ token: String, fresh: Bool = false) -> OutboundRequest {
            let headers = APNsRequest.headers(message, app: target.app, attemptId: attemptId, providerToken: token)
            return OutboundRequest(url: url, headers: headers, body: body, timeout: configuration.timeout, needsFreshConnection: fresh)
        }
        do {
            let token = try await tokens.token(now: now)
            let first = await exchange(request(token), now: now)
            guard first.providerErrorCode == "ExpiredProviderToken" else { return first }
            logger.warning(
                "APNs calls the provider token expired; is this machine's clock right?",
                metadata: ["key": "\(configuration.keyId)"]
            )
            guard let other = try await tokens.replacement(for: token, now: now) else { return first }
            // APNs goes on refusing on a connection it has refused a token on.
            var second = await exchange(request(other, fresh: true), now: now)
            // Refused with a new token too: one more would not help.
            if second.providerErrorCode == "ExpiredProviderToken" { second.retryClass = .afterFix }
            return second
        } catch {
            return .failed(Classification(.auth, retry: .afterFix), detail: "The provider token could not be signed: \(error)")
        }
    }

    private func exchange(_ request: OutboundRequest, now: Timestamp) async -> PushOutcome {
        do throws(OutboundFailure) {
            let response = try await client.send(request)
            return APNsAnswer(response, now: now).outcome(latency: response.latency)
        } catch {
            return .unreached(error)
        }
    }
}
