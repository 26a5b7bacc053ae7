package import PushContract

/// How often a feed is asked: quickly while it has news, less often when it is silent, refuses, or its matches are over. Pure.
package struct FeedPollInterval: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// Something new was stored.
        case changed
        /// Answered, and nothing was new; 304 included.
        case same
        /// Every match of its answer is over; a 304 repeats that.
        case over
        /// No answer, or none that can be used; with the wait the peer asked for.
        case failed(retryAfter: Duration?)
    }

    package static let usual = Duration.seconds(5)
    package static let silent = Duration.seconds(30)
    package static let over = Duration.seconds(60)
    /// The longest pause after failures while a match may be in play: about what a ball takes. A longer one misses wickets after the feed
    /// is back.
    package static let longestInPlay = Duration.seconds(30)
    package static let longest = Duration.seconds(300)
    /// No news for so long counts as silent.
    static let silenceLimit = Duration.seconds(300)

    package private(set) var failures = 0
    private(set) var lastChangedAt: Timestamp?
    /// By the last answer. What was never heard from may be in play.
    private var isOver = false
    private let usual: Duration

    package init(usual: Duration = FeedPollInterval.usual) { self.usual = usual }

    /// How long to wait before asking again.
    package mutating func wait(after outcome: Outcome, now: Timestamp) -> Duration {
        if case .failed(let retryAfter) = outcome {
            failures += 1
            let doubled = usual * (1 << min(failures, 10))
            let longest = isOver ? FeedPollInterval.longest : FeedPollInterval.longestInPlay
            return max(min(doubled, longest), min(retryAfter ?? .zero, FeedPollInterval.longest * 12))
        }
        failures = 0
        isOver = outcome == .over
        if outcome == .changed || lastChangedAt == nil { lastChangedAt = now }
        if outcome == .over { return max(usual, FeedPollInterval.over) }
        return isSilent(now: now) ? max(usual, FeedPollInterval.silent) : usual
    }

    package func isSilent(now: Timestamp) -> Bool { lastChangedAt.map { now - $0 >= FeedPollInterval.silenceLimit } ?? false }
}
