package import CurlHTTP
package import Logging
package import PushContract

/// Sends through FCM's HTTP v1 interface with one service account. Thread-safe.
package struct FCMProvider: PushProvider {
    /// The project messages are sent in.
    package let projectId: String
    private let url: String
    private let client: CurlClient
    private let timeout: Duration
    private let tokens: FCMAccessTokens
    private let metrics = ProviderMetrics(.fcm)
    private let logger: Logger

    /// - Throws: when the service account file cannot be right.
    package init(configuration: FCMConfiguration, client: CurlClient, logger: Logger) throws(CredentialError) {
        let account = try FCMServiceAccount(file: configuration.serviceAccount)
        projectId = configuration.projectId ?? account.projectId
        url = "\(configuration.endpoint)/v1/projects/\(projectId)/messages:send"
        timeout = configuration.timeout
        self.client = client
        self.logger = logger
        tokens = FCMAccessTokens(account: account, client: client, timeout: configuration.timeout)
    }

    package func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        do throws(PushFault) {
            try FCMRules.check(message)
        } catch {
            return .refusedHere(error)
        }
        let outcome = await send(FCMMessage.bytes(message, token: target.token, now: now), to: target, now: now)
        metrics.note(outcome)
        return outcome
    }

    /// A refused access token is renewed and the request sent once more: FCM has not looked at it.
    private func send(_ body: [UInt8], to target: PushTarget, now: Timestamp) async -> PushOutcome {
        var token: String
        switch await tokens.token(now: now) {
        case .success(let found): token = found
        case .failure(let none): return none.outcome
        }
        let first = await exchange(body, bearer: token, target: target, now: now)
        guard first.isAccessTokenRefused else { return first.outcome }
        logger.info("FCM refused the access token; renewing it", metadata: ["project": "\(projectId)"])
        await tokens.discard(token)
        switch await tokens.token(now: now) {
        case .success(let found): token = found
        case .failure(let none): return none.outcome
        }
        var second = await exchange(body, bearer: token, target: target, now: now).outcome
        // Refused with a new token too: one more would not help.
        if second.retryClass == .now && second.reasonCode == .auth { second.retryClass = .afterFix }
        return second
    }

    private func exchange(
        _ body: [UInt8],
        bearer: String,
        target: PushTarget,
        now: Timestamp
    ) async -> (outcome: PushOutcome, isAccessTokenRefused: Bool) {
        let headers = [("authorization", "Bearer \(bearer)"), ("content-type", "application/json; charset=utf-8")]
        do throws(OutboundFailure) {
            let response = try await client.send(OutboundRequest(url: url, headers: headers, body: body, timeout: timeout))
            let answer = FCMAnswer(response, now: now)
            return (answer.outcome(latency: response.latency, target: target), answer.isAccessTokenRefused)
        } catch {
            return (.unreached(error), false)
        }
    }
}
