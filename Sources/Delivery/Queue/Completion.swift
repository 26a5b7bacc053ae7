package import PushContract

/// The outcome of one claimed delivery: all that is written when its lease is released.
package struct Completion: Sendable {
    /// Where the delivery goes.
    package enum Next: Sendable, Hashable {
        case sent(providerMessageId: String?)
        case cancelled
        /// Tried again, as attempt `attemptNumber` + 1.
        case retry(at: Timestamp, after: ReasonCode)
        /// Waits with a hold until it is released, as the same try again if none was made.
        case blocked(CircuitReference, after: ReasonCode?)
        case dead(DeadOutcome, reason: ReasonCode?, providerErrorCode: String?)
    }

    /// About the environment of a device's token.
    package enum EnvironmentUpdate: Sendable, Hashable {
        /// Refused here, and perhaps at home in the other one. Where that was not tried yet, this is tried there at once instead of `next`.
        case uncertain(TokenEnvironment)
        /// The trial ended so.
        case resolved(TokenEnvironment, EnvironmentTrial)
    }

    package var deliveryId: Int64
    package var leaseToken: Int64
    package var queue: Int32
    /// The try this is the outcome of.
    package var attemptNumber: Int
    /// Nil when no try was made (cancelled, expired, unreachable).
    package var attempt: Attempt?
    package var feedback: TokenFeedback?
    /// What the outcome says about tokens in general; nil when it says nothing.
    package var sample: RefusalSample?
    /// What the outcome says about the token's environment; nil when nothing.
    package var tokenEnvironment: EnvironmentUpdate?
    package var next: Next
    /// It expires then, wherever it waits.
    package var expiresAt: Timestamp
    /// The hold this was the probe of.
    package var probeOf: Int64?
    /// Holds that this outcome refutes.
    package var circuitsClosed: [Int64]
    package var pause: RateLimitRequest?

    package init(
        _ delivery: ClaimedDelivery,
        attempt: Attempt?,
        feedback: TokenFeedback? = nil,
        sample: RefusalSample? = nil,
        tokenEnvironment: EnvironmentUpdate? = nil,
        circuitsClosed: [Int64] = [],
        pause: RateLimitRequest? = nil,
        next: Next
    ) {
        deliveryId = delivery.deliveryId
        leaseToken = delivery.leaseToken
        queue = delivery.queue
        attemptNumber = delivery.attemptNumber
        self.attempt = attempt
        self.feedback = feedback
        self.sample = sample
        self.tokenEnvironment = tokenEnvironment
        self.circuitsClosed = circuitsClosed
        self.pause = pause
        self.next = next
        expiresAt = delivery.expiresAt
        probeOf = delivery.probeOf
    }

    /// Tries made, this one included if it was one.
    var attemptsMade: Int { attempt == nil ? attemptNumber - 1 : attemptNumber }
}

/// The hold a delivery waits with.
package enum CircuitReference: Sendable, Hashable {
    case open(Int64)
    /// The one that this refusal opens, unless it is open already.
    case opening(CircuitOpening)
}

/// What a batch of completions came to.
package struct CompletionReport: Sendable {
    /// Those that were completed, each with whether its token was switched off. The others' leases were not theirs any more.
    package var completed: [Int64: Bool] = [:]
    package var opened: [Circuit] = []
    package var closed: Set<Int64> = []
    package var paused: [RateLimitPause] = []
    /// Where so many tokens were refused that nothing more is switched off.
    package var limitersOpened: [CredentialScope] = []

    package init() {}
}

/// How a delivery can end without success.
package enum DeadOutcome: String, Sendable, Hashable, Codable, CaseIterable {
    /// A permanent refusal, or an unknown outcome that must not be repeated.
    case failed
    case expired
    /// The device has no token that may be sent to.
    case unreachable
}
