public import PushContract

/// An operation that is not confirmed yet. Stored on disk; contains a token's hash, never a token.
public struct PendingOperation: Codable, Sendable, Hashable {
    /// The state of the operation.
    public enum State: String, Codable, Sendable, Hashable {
        /// Waits for its next attempt.
        case queued
        /// In flight.
        case inFlight
        /// Waits for its user's session; the window continues.
        case waitingForSession
        /// Retried for 24 hours, or refused permanently: kept and shown, and attempted again only if the user asks.
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
    /// When it was queued, or retried by the user: the start of the 24-hour window.
    public internal(set) var enqueuedAt: Timestamp
    /// The state of the operation.
    public internal(set) var state: State = .queued
    /// The number of failed attempts.
    public internal(set) var failures = 0
    /// Those before the user retried it: the schedule starts again, the numbers of attempts continue.
    var earlierFailures = 0
    /// When it is attempted next; nil if the schedule has no further attempt within the window.
    public internal(set) var nextAttemptAt: Timestamp?

    /// The number of the attempt in flight, or of the next one; 1 for the first.
    public var attemptNumber: Int { failures + 1 }

    /// The end of the window; nil if it is retried until the server has it.
    var windowEnd: Timestamp? { kind.hasRetryWindow ? enqueuedAt + RetrySchedule.window : nil }

    /// When it is attempted again after a failure; nil if the window has no further attempt.
    func nextAttempt(failedAt: Timestamp, retryAfter: Duration?) -> Timestamp? {
        let inRow = failures - earlierFailures
        guard windowEnd != nil else {
            return failedAt + min(max(RetrySchedule.delay(afterFailures: inRow), retryAfter ?? .zero), RetrySchedule.window)
        }
        let step = RetrySchedule.next(enqueuedAt: enqueuedAt, failures: inRow, failedAt: failedAt, retryAfter: retryAfter)
        return if case .retry(let at) = step { at } else { nil }
    }
}
