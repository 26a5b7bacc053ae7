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
        case held(HoldReference, after: ReasonCode?)
        case dead(DeadOutcome, reason: ReasonCode?, providerErrorCode: String?)
    }

    /// About the environment of a device's token.
    package enum Placement: Sendable, Hashable {
        /// Refused here, and perhaps at home in the other one. Where that was not tried yet, this is tried there at once instead of `next`.
        case doubtful(TokenPlacement)
        /// The trial ended so.
        case settled(TokenPlacement, EnvironmentTrial)
    }

    package var deliveryId: Int64
    package var leaseToken: Int64
    package var lane: Int32
    /// The try this is the outcome of.
    package var attemptNumber: Int
    /// Nil when no try was made (cancelled, expired, unreachable).
    package var attempt: Attempt?
    package var strike: TokenStrike?
    /// What the outcome says about tokens in general; nil when it says nothing.
    package var judgement: TokenJudgement?
    /// What the outcome says about the token's environment; nil when nothing.
    package var placement: Placement?
    package var next: Next
    /// It expires then, wherever it waits.
    package var expiresAt: Timestamp
    /// The hold this was the probe of.
    package var probeOf: Int64?
    /// Holds that this outcome refutes.
    package var releases: [Int64]
    package var pause: PauseRequest?

    package init(
        _ delivery: ClaimedDelivery,
        attempt: Attempt?,
        strike: TokenStrike? = nil,
        judgement: TokenJudgement? = nil,
        placement: Placement? = nil,
        releases: [Int64] = [],
        pause: PauseRequest? = nil,
        next: Next
    ) {
        deliveryId = delivery.deliveryId
        leaseToken = delivery.leaseToken
        lane = delivery.lane
        attemptNumber = delivery.attemptNumber
        self.attempt = attempt
        self.strike = strike
        self.judgement = judgement
        self.placement = placement
        self.releases = releases
        self.pause = pause
        self.next = next
        expiresAt = delivery.expiresAt
        probeOf = delivery.probeOf
    }

    /// Tries made, this one included if it was one.
    var triesMade: Int { attempt == nil ? attemptNumber - 1 : attemptNumber }
}

/// The hold a delivery waits with.
package enum HoldReference: Sendable, Hashable {
    case open(Int64)
    /// The one that this refusal opens, unless it is open already.
    case opening(HoldOpening)
}

/// What a batch of completions came to.
package struct CompletionReport: Sendable {
    /// Those that were completed, each with whether its token was switched off. The others' leases were not theirs any more.
    package var completed: [Int64: Bool] = [:]
    package var opened: [SendHold] = []
    package var released: Set<Int64> = []
    package var paused: [LanePause] = []
    /// Where so many tokens were refused that nothing more is switched off.
    package var breakersOpened: [CredentialPlace] = []

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
