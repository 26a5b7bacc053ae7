/// When a client retries a register or unregister (lifecycle contract: after 5 s, 30 s, 2 m, 10 m, then every 30 m, for 24 h).
public enum RetrySchedule {
    /// How long an operation is retried, counted from when it was first queued.
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
        /// Retry at this moment.
        case retry(at: Timestamp)
        /// The window has passed: keep the operation and show it, but do not retry it.
        case needsAttention(at: Timestamp)
    }

    /// What follows the `failures`-th failure.
    ///
    /// `retryAfter`, from an HTTP answer, can only lengthen the wait. The window counts from `enqueuedAt`, survives restarts, and is not
    /// extended by early attempts.
    public static func next(
        enqueuedAt: Timestamp,
        failures: Int,
        failedAt: Timestamp,
        retryAfter: Duration? = nil
    ) -> Step {
        let end = enqueuedAt + window
        let wait = max(delay(afterFailures: failures), retryAfter ?? .zero)
        // An answer may ask for more than a moment can be ahead.
        let at = failedAt + min(wait, window)
        return wait > window || at > end ? .needsAttention(at: end) : .retry(at: at)
    }
}
