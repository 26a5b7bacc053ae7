package import Devices
package import PushContract

/// The outcome of one claimed delivery: all that is written when its lease is released.
package struct Completion: Sendable {
    /// Where the delivery goes.
    package enum Next: Sendable, Hashable {
        case sent(providerMessageId: String?)
        case cancelled
        /// Tried again, as attempt `attemptNumber` + 1.
        case retry(at: Timestamp, after: ReasonCode)
        case dead(DeadOutcome, reason: ReasonCode?, providerErrorCode: String?)
    }

    package var deliveryId: Int64
    package var leaseToken: Int64
    package var lane: Int32
    /// The try this is the outcome of.
    package var attemptNumber: Int
    /// Nil when no try was made (cancelled, expired, unreachable).
    package var attempt: Attempt?
    package var strike: TokenStrike?
    package var next: Next

    package init(_ delivery: ClaimedDelivery, attempt: Attempt?, strike: TokenStrike? = nil, next: Next) {
        deliveryId = delivery.deliveryId
        leaseToken = delivery.leaseToken
        lane = delivery.lane
        attemptNumber = delivery.attemptNumber
        self.attempt = attempt
        self.strike = strike
        self.next = next
    }

    /// Tries made, this one included if it was one.
    var triesMade: Int { attempt == nil ? attemptNumber - 1 : attemptNumber }
}

/// How a delivery can end without success.
package enum DeadOutcome: String, Sendable, Hashable, Codable {
    /// A permanent refusal, or an unknown outcome that must not be repeated.
    case failed
    case expired
    /// The device has no token that may be sent to.
    case unreachable
}
