package import HTTPClient
package import Logging
package import PushContract

/// Sends to APNs with one team's key. Thread-safe.
///
/// Teams must not share connections: give each provider its own client, configured with `APNsConfiguration.client`.
package final class APNsProvider: PushProvider {
    package let credential: String
    let configuration: APNsConfiguration
    let exchange: APNsExchange
    let metrics = ProviderMetrics(.apns)

    package var executor: (any TaskExecutor)? { exchange.client }

    /// - Parameter clock: Measures the age of provider tokens.
    /// - Throws: `CredentialError` if the team id, key id or key is invalid.
    package init(
        configuration: APNsConfiguration,
        client: HTTP2Client,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        logger: Logger
    ) throws(CredentialError) {
        let key = try APNsSigningKey(teamId: configuration.teamId, keyId: configuration.keyId, pem: configuration.privateKey)
        self.configuration = configuration
        credential = CredentialName.of("\(configuration.teamId)/\(configuration.keyId)", secret: configuration.privateKey)
        exchange = APNsExchange(
            client: client,
            tokens: APNsTokens(key: key, clock: clock),
            keyId: configuration.keyId,
            trustedConnectionAge: configuration.trustedConnectionAge,
            logger: logger
        )
    }

    package func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        switch prepare(message, to: target, attemptId: attemptId) {
        case .refused(let outcome): return outcome
        case .ready(let request):
            let outcome = await exchange.perform(request, now: now).outcome
            metrics.note(outcome)
            return outcome
        }
    }

    private enum Prepared {
        /// But for its provider token.
        case ready(OutboundRequest)
        indirect case refused(PushOutcome)
    }

    /// Not part of `send`: a task keeps what its functions need while it waits, so what takes space is done by functions that do not wait.
    @inline(never)
    private func prepare(_ message: PushMessage, to target: PushTarget, attemptId: String) -> Prepared {
        let body: [UInt8]
        do throws(PushError) {
            body = try APNsRules.encode(message, app: target.app).bytes
        } catch {
            return .refused(.rejectedLocally(error))
        }
        guard let path = APNsRequest.path(target.token), let base = configuration.endpoints[target.environment] else {
            return .refused(
                .failed(
                    Classification(.tokenInvalid, retry: .never, token: .suspect),
                    detail: "Not sent: the token is not hexadecimal, or there is no endpoint for \(target.environment.rawValue)."
                )
            )
        }
        let headers = APNsRequest.headers(message, app: target.app, attemptId: attemptId)
        return .ready(OutboundRequest(url: base + path, headers: headers, body: body, timeout: configuration.timeout))
    }

    package func dryRun(
        _ message: PushMessage,
        to target: PushTarget,
        attemptId: String,
        now: Timestamp
    ) async throws(PushError) -> PushDryRun {
        let body = try APNsRules.encode(message, app: target.app).bytes
        guard APNsRequest.path(target.token) != nil, let base = configuration.endpoints[target.environment] else {
            throw PushError(
                field: "token",
                code: "BadDeviceToken",
                "The token is not hexadecimal, or there is no endpoint for \(target.environment.rawValue)."
            )
        }
        let headers = APNsRequest.headers(message, app: target.app, attemptId: attemptId)
        let request = PushDryRun.Request(
            url: base + APNsRequest.devicePath + PushDryRun.token,
            headers: Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first },
            body: body
        )
        return PushDryRun(request: request)
    }
}
