public import PushContract

/// An operation that is not confirmed yet. Stored on disk; contains a token's hash, never a token.
public struct PendingOperation: Codable, Sendable, Hashable {
    /// The state of the operation.
    public enum State: String, Codable, Sendable, Hashable {
        /// Waits for its next attempt.
        case queued
        /// In flight.
        case inFlight
        /// Waits for its user's session; the 24-hour window continues.
        case waitingForSession
        /// Retried for 24 hours, or refused permanently: kept and shown, not retried.
        case needsAttention = "needs_attention"
    }

    /// The operation's identity, the same for all its attempts.
    public let operationId: String
    /// The operation to perform.
    public let kind: OperationKind
    /// The user.
    public let uid: String
    /// The hash of the token; nil if none is involved.
    public let tokenHash: TokenHash?
    /// When it was first queued; start of the 24-hour window.
    public let enqueuedAt: Timestamp
    /// The state of the operation.
    public internal(set) var state: State = .queued
    /// The number of failed attempts.
    public internal(set) var failures = 0
    /// When it is attempted next; nil if the schedule has no further attempt within the window.
    public internal(set) var nextAttemptAt: Timestamp?

    /// The number of the attempt in flight, or of the next one; 1 for the first.
    public var attemptNumber: Int { failures + 1 }

    /// The end of the window.
    var windowEnd: Timestamp { enqueuedAt + RetrySchedule.window }
}
