/// When a client tries a register or unregister again (lifecycle contract: 5 s, 30 s, 2 m, 10 m, then every 30 m, for 24 h).
public enum RetrySchedule {
    /// How long an operation is tried, counted from its first enqueueing.
    public static let window: Duration = .seconds(86_400)

    /// The wait after the `failures`-th failure in a row (1 = the first).
    public static func delay(afterFailures failures: Int) -> Duration {
        switch failures {
        case ...0: .zero
        case 1: .seconds(5)
        case 2: .seconds(30)
        case 3: .seconds(120)
        case 4: .seconds(600)
        default: .seconds(1800)
        }
    }

    /// What to do after a failure.
    public enum Step: Equatable, Sendable {
        /// Try again at this moment.
        case retry(at: Timestamp)
        /// The window has passed: keep the operation, show it, stop trying.
        case needsAttention(at: Timestamp)
    }

    /// The step after the `failures`-th failure.
    ///
    /// `retryAfter` (an HTTP answer's) can only raise the wait. The window counts from `enqueuedAt`, survives restarts, and is not
    /// extended by early tries.
    public static func next(
        enqueuedAt: Timestamp,
        failures: Int,
        failedAt: Timestamp,
        retryAfter: Duration? = nil
    ) -> Step {
        let end = enqueuedAt + window
        let at = failedAt + max(delay(afterFailures: failures), retryAfter ?? .zero)
        return at > end ? .needsAttention(at: end) : .retry(at: at)
    }
}
