package import HTTPClient
package import Logging
package import PushContract
import ServiceKit

/// Sends through FCM's HTTP v1 interface with one service account. Thread-safe.
package struct FCMProvider: PushProvider {
    package let credential: String
    /// The project that messages are sent in.
    package let projectId: String
    private let url: String
    private let client: HTTP2Client
    private let timeout: Duration
    private let tokens: FCMAccessTokens
    private let metrics = ProviderMetrics(.fcm)
    private let logger: Logger

    package var executor: (any TaskExecutor)? { client }

    /// - Parameter tokenClient: Asks for access tokens.
    /// - Throws: `CredentialError` if the service account file is invalid.
    package init(
        configuration: FCMConfiguration,
        client: HTTP2Client,
        tokenClient: CurlClient,
        logger: Logger
    ) throws(CredentialError) {
        let account = try FCMServiceAccount(file: configuration.serviceAccount, tokenURL: configuration.tokenURL)
        projectId = configuration.projectId ?? account.projectId
        url = "\(configuration.endpoint)/v1/projects/\(projectId)/messages:send"
        timeout = configuration.timeout
        credential = CredentialName.of(projectId, secret: configuration.serviceAccount)
        self.client = client
        self.logger = logger
        // A renewal that fails leaves the push its half of the time (`AttemptTime`).
        tokens = FCMAccessTokens(account: account, client: tokenClient, timeout: configuration.timeout * 2 / 5)
    }

    package func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        do throws(PushError) {
            try FCMRules.check(message)
            try FCMRules.check(message, for: target)
        } catch {
            return .rejectedLocally(error)
        }
        let reply = await answer(to: message, validateOnly: message.validateOnly, target, now: now)
        metrics.note(reply.outcome)
        return reply.outcome
    }

    package func dryRun(
        _ message: PushMessage,
        to target: PushTarget,
        attemptId: String,
        now: Timestamp
    ) async throws(PushError) -> PushDryRun {
        try FCMRules.check(message)
        try FCMRules.check(message, for: target)
        var shown = target
        shown.token = PushDryRun.token
        shown.liveActivityToken = target.liveActivityToken.map { _ in PushDryRun.token }
        let request = PushDryRun.Request(
            url: url,
            headers: ["content-type": Self.contentType],
            body: FCMMessage.bytes(message, to: shown, now: now)
        )
        return PushDryRun(request: request, answer: await answer(to: message, validateOnly: true, target, now: now).outcome)
    }

    private func answer(to message: PushMessage, validateOnly: Bool, _ target: PushTarget, now: Timestamp) async -> Reply {
        let body = FCMMessage.bytes(message, to: target, validateOnly: validateOnly, now: now)
        let time = AttemptTime(timeout)
        var reply = await send(body, to: target, within: time, now: now)
        if reply.isAmbiguous, await isTokenInvalid(target, within: time, now: now) {
            reply.outcome.reasonCode = .tokenInvalid
            reply.outcome.tokenAction = .suspect
            reply.outcome.detail += " A message without content is refused too, so the token is at fault."
        }
        return reply
    }

    private static let contentType = "application/json; charset=utf-8"

    /// The result of one request: its outcome and the details of the answer.
    private struct Reply {
        var outcome: PushOutcome
        var isAccessTokenRefused = false
        var isAmbiguous = false
    }

    /// Has FCM check a minimal message; nothing is delivered.
    private func isTokenInvalid(_ target: PushTarget, within time: AttemptTime, now: Timestamp) async -> Bool {
        let probe = FCMMessage.probe(target)
        return await send(probe, to: target, within: time, now: now).outcome.providerErrorCode == "INVALID_ARGUMENT"
    }

    /// A refused access token is renewed and the request retried once: FCM has not processed it.
    private func send(_ body: [UInt8], to target: PushTarget, within time: AttemptTime, now: Timestamp) async -> Reply {
        var token: String
        switch await tokens.token(now: now) {
        case .success(let found): token = found
        case .failure(let none): return Reply(outcome: none.outcome)
        }
        guard let left = time.left else {
            return Reply(outcome: .notSent(OutboundFailure(.notWritten, .timeout, detail: "The access token took too long.")))
        }
        let first = await exchange(body, bearer: token, target: target, timeout: left, now: now)
        guard first.isAccessTokenRefused else { return first }
        guard time.left != nil else { return first }
        logger.info("FCM refused the access token; renewing it", metadata: ["project": "\(projectId)"])
        await tokens.discard(token)
        switch await tokens.token(now: now) {
        case .success(let found): token = found
        case .failure(let none): return Reply(outcome: none.outcome)
        }
        guard let left = time.left else { return first }
        var second = await exchange(body, bearer: token, target: target, timeout: left, now: now)
        // Refused with a new token too: a third would not help.
        if second.outcome.retryClass == .now && second.outcome.reasonCode == .auth { second.outcome.retryClass = .afterFix }
        return second
    }

    private func exchange(
        _ body: [UInt8],
        bearer: String,
        target: PushTarget,
        timeout: Duration,
        now: Timestamp
    ) async -> Reply {
        let headers: HeaderFields = [("authorization", "Bearer \(bearer)"), ("content-type", Self.contentType)]
        do throws(OutboundFailure) {
            let response = try await client.send(OutboundRequest(url: url, headers: headers, body: body, timeout: timeout))
            let reply = FCMResponse(response, now: now)
            var outcome = reply.outcome(latency: response.latency, target: target)
            outcome.responseTime = response.responseTime
            outcome.providerDate = response.header("date")
            return Reply(
                outcome: outcome,
                isAccessTokenRefused: reply.isAccessTokenRefused,
                isAmbiguous: reply.isAmbiguous
            )
        } catch {
            return Reply(outcome: .notSent(error))
        }
    }
}
