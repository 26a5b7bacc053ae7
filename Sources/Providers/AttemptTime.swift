import HTTPClient

/// The time that an attempt has for all its requests: for a token, for the push, and for its repetition. A newer push with the same
/// `collapseId` waits no longer than that for one in flight.
struct AttemptTime: Sendable {
    private let end: ContinuousClock.Instant
    private let least: Duration

    init(_ timeout: Duration) {
        end = .now + timeout
        least = timeout / 2
    }

    /// For one more request; nil when less than half is left. A request that is given up soon has an unknown outcome.
    var left: Duration? {
        let left = end - .now
        return left < least ? nil : left
    }
}
