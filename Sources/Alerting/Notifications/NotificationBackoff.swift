/// How long to wait before the next try.
package enum NotificationBackoff {
    package static let shortest = Duration.seconds(1)
    package static let longest = Duration.seconds(300)

    /// 1 s, 2 s, 4 s … 5 min, of which the upper half is drawn by lot so that many receivers do not come back at once; never earlier than
    /// the receiver asked for. `jitter` is in 0..<1.
    package static func wait(failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        let doubled = shortest * (1 << min(max(failures, 1) - 1, 20))
        let capped = min(doubled, longest)
        let jittered = capped / 2 + capped / 2 * jitter
        return max(jittered, retryAfter ?? .zero)
    }
}
