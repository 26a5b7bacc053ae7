package import Delivery
package import Providers
package import PushContract

/// One try of a push, by what is known before it leaves: all that its attempt needs but the outcome.
package struct PushIntent: Sendable, Hashable {
    package var key: ActivityKey
    /// `start`, `end`, or which state at which epoch: with the key it names the operation.
    package var operation: String
    package var tokenHash: TokenHash
    package var app: String
    package var environment: PushEnvironment
    package var attemptNumber: Int
    package var requestId: String

    package init(
        key: ActivityKey,
        operation: String,
        tokenHash: TokenHash,
        app: String,
        environment: PushEnvironment,
        attemptNumber: Int,
        requestId: String
    ) {
        self.key = key
        self.operation = operation
        self.tokenHash = tokenHash
        self.app = app
        self.environment = environment
        self.attemptNumber = attemptNumber
        self.requestId = requestId
    }

    package func attempt(_ outcome: PushOutcome, at startedAt: Timestamp) -> Attempt {
        LiveAttempt.make(
            key,
            operation,
            tokenHash: tokenHash,
            app: app,
            environment: environment,
            attemptNumber: attemptNumber,
            at: startedAt,
            requestId: requestId,
            outcome: outcome
        )
    }
}
