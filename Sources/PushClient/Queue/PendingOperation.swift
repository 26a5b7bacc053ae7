public import PushContract

/// An operation that has not been confirmed yet. Kept on disk; holds a token's hash and never a token.
public struct PendingOperation: Codable, Sendable, Hashable {
    /// Where it stands.
    public enum State: String, Codable, Sendable, Hashable {
        /// Waits for its next try.
        case queued
        /// Being tried this moment.
        case inFlight
        /// Waits for its user's session; the window goes on.
        case waitingForSession
        /// Tried for 24 hours, or refused for good: kept and shown, not tried any more.
        case needsAttention = "needs_attention"
    }

    /// The operation's identity: the same for all its tries.
    public let operationId: String
    /// What to do.
    public let kind: OperationKind
    /// For whom.
    public let uid: String
    /// Of which token; nil where none is involved.
    public let tokenHash: TokenHash?
    /// When it was queued first; the window of 24 hours counts from here.
    public let enqueuedAt: Timestamp
    /// Where it stands.
    public internal(set) var state: State = .queued
    /// Tries that failed.
    public internal(set) var failures = 0
    /// When it is tried next; nil when the schedule has no further try inside the window.
    public internal(set) var nextAttemptAt: Timestamp?

    /// The number of the try that is being made, or would be the next: 1 for the first.
    public var attemptNumber: Int { failures + 1 }

    /// The end of the window.
    var windowEnd: Timestamp { enqueuedAt + RetrySchedule.window }
}
