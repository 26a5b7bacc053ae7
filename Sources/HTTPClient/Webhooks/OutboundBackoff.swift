import ServiceKit

/// How long to wait before the next attempt.
package enum OutboundBackoff {
    private static let backoff = Backoff(base: .seconds(1), cap: .seconds(300))

    /// 1 s, 2 s, 4 s … 5 min, of which the upper half is random so that many receivers are not retried at once; never earlier than the
    /// receiver asked for. `jitter` is in 0..<1.
    package static func wait(failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        let half = backoff.ceiling(failures: failures) / 2
        return max(half + half * jitter, retryAfter ?? .zero)
    }
}
