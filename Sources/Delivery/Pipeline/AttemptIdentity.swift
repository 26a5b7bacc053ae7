package import Providers
package import PushContract

/// What identifies one attempt of a push: all that its row needs but the outcome.
package struct AttemptIdentity: Sendable, Hashable {
    package var uid: String
    package var platform: Platform
    package var provider: Provider
    package var environment: PushEnvironment
    package var app: String
    package var tokenHash: TokenHash
    /// The same for all attempts of one push, in every process.
    package var operationKey: String
    package var attemptNumber: Int
    package var requestId: String
    /// Nil: known from the content only.
    package var pushType: String?
    package var appVersion: String?
    package var sendId: String?

    package init(
        uid: String,
        platform: Platform,
        provider: Provider,
        environment: PushEnvironment,
        app: String,
        tokenHash: TokenHash,
        operationKey: String,
        attemptNumber: Int,
        requestId: String
    ) {
        self.uid = uid
        self.platform = platform
        self.provider = provider
        self.environment = environment
        self.app = app
        self.tokenHash = tokenHash
        self.operationKey = operationKey
        self.attemptNumber = attemptNumber
        self.requestId = requestId
    }

    /// The same for every process that makes this attempt, so that it is recorded once.
    package var attemptId: String {
        let derived = AttemptID.derive(
            eventType: .send,
            uid: uid,
            platform: platform,
            provider: provider,
            tokenHash: tokenHash,
            operationKey: operationKey,
            attemptNumber: attemptNumber
        )
        // Only control characters make it nil, and those are rejected in requests.
        return derived ?? "\(operationKey):\(attemptNumber)"
    }
}

extension Attempt {
    /// What is recorded as the provider's code when the outcome of an attempt is unknown.
    static let unknownOutcomeCode = "OutcomeUnknown"

    /// The row of one attempt of a push.
    package init(_ identity: AttemptIdentity, _ outcome: PushOutcome, at startedAt: Timestamp) {
        self.init(
            attemptId: identity.attemptId,
            uid: identity.uid,
            platform: identity.platform,
            provider: identity.provider,
            tokenHash: identity.tokenHash,
            eventType: .send,
            status: outcome.status,
            attemptedAt: startedAt,
            requestId: identity.requestId,
            app: identity.app,
            environment: identity.environment,
            appVersion: identity.appVersion,
            sendId: identity.sendId
        )
        pushType = identity.pushType
        reasonCode = outcome.reasonCode
        let code = outcome.providerErrorCode ?? (outcome.outcomeUnknown ? Attempt.unknownOutcomeCode : nil)
        providerErrorCode = code.map { String($0.prefix(200)) }
        providerMessageId = outcome.providerMessageId
        if outcome.httpStatus != nil { latencyMs = Int32(clamping: outcome.latency.microseconds / 1000) }
    }
}
