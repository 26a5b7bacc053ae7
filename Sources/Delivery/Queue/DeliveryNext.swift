package import PushContract

/// Where a delivery of the queue goes after its outcome.
package enum DeliveryNext: Sendable, Hashable {
    case sent(SentMessageId)
    case cancelled
    /// A newer delivery with its `collapseId` has replaced it.
    case superseded
    /// Attempted again, or for the first time if there is no reason.
    case retry(at: Timestamp, after: ReasonCode?)
    /// Waits until a circuit closes.
    case blocked(CircuitReference, after: ReasonCode?)
    case dead(DeadOutcome, reason: ReasonCode?, providerErrorCode: String?)
}

/// What an outcome means for a delivery, and for its owner if a feature above put it into the queue.
struct QueueConsequence: Sendable {
    var next: DeliveryNext
    var queued: QueuedOutcome?
}

/// The circuit that a delivery waits for.
package enum CircuitReference: Sendable, Hashable {
    case open(Int64)
    /// The one that this refusal opens, unless it is open already. By reference, as it is large and rare.
    indirect case opening(CircuitOpening)
}

/// How a delivery can end without success.
package enum DeadOutcome: String, Sendable, Hashable, Codable, CaseIterable {
    /// A permanent refusal, or an unknown outcome that must not be repeated.
    case failed
    case expired
    /// The device has no token that may be sent to.
    case unreachable
}

extension DeadOutcome {
    var event: SendEvent {
        switch self {
        case .failed: .failed
        case .expired: .expired
        case .unreachable: .unreachable
        }
    }
}
