package import Delivery
package import Providers
package import PushContract

/// The telemetry of one Live Activity push.
package enum LiveAttempt {
    /// What is the same for every process that makes this try.
    package static func operationKey(_ key: ActivityKey, _ what: String) -> String {
        "live:\(key.subject):\(key.userId):\(key.deviceId):\(key.instance):\(what)"
    }

    package static func make(
        _ key: ActivityKey,
        _ what: String,
        tokenHash: TokenHash,
        app: String,
        environment: PushEnvironment,
        attemptNumber: Int,
        at startedAt: Timestamp,
        requestId: String,
        outcome: PushOutcome
    ) -> Attempt {
        let operation = operationKey(key, what)
        let derived = AttemptID.derive(
            eventType: .send,
            uid: key.userId,
            platform: .ios,
            provider: .apns,
            tokenHash: tokenHash,
            operationKey: operation,
            attemptNumber: attemptNumber
        )
        var attempt = Attempt(
            attemptId: derived ?? "\(operation):\(attemptNumber)",
            uid: key.userId,
            platform: .ios,
            provider: .apns,
            tokenHash: tokenHash,
            eventType: .send,
            status: outcome.status,
            attemptedAt: startedAt,
            requestId: requestId,
            app: app,
            environment: environment
        )
        attempt.pushType = "liveactivity"
        attempt.reasonCode = outcome.reasonCode
        attempt.providerErrorCode = outcome.outcomeUnknown ? "OutcomeUnknown" : outcome.providerErrorCode.map { String($0.prefix(200)) }
        attempt.providerMessageId = outcome.providerMessageId
        if outcome.httpStatus != nil { attempt.latencyMs = Int32(clamping: outcome.latency.microseconds / 1000) }
        return attempt
    }
}
