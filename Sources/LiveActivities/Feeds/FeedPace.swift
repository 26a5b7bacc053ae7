package import PushContract

/// How often a feed is asked: quickly while it has news, less often when it is silent, refuses, or its matches are over. Pure.
package struct FeedPace: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// Something new was stored.
        case news
        /// Answered, and nothing was new (304 included).
        case same
        /// Every match it tells of is over.
        case over
        /// No answer, or none that can be used; with the wait the peer asked for.
        case failed(retryAfter: Duration?)
    }

    package static let usual = Duration.seconds(5)
    package static let silent = Duration.seconds(30)
    package static let over = Duration.seconds(60)
    package static let longest = Duration.seconds(300)
    /// No news for so long counts as silent.
    package static let patience = Duration.seconds(300)

    package private(set) var failures = 0
    package private(set) var lastNewsAt: Timestamp?
    private let usual: Duration

    package init(usual: Duration = FeedPace.usual) { self.usual = usual }

    /// How long to wait before asking again.
    package mutating func wait(after outcome: Outcome, now: Timestamp) -> Duration {
        if case .failed(let retryAfter) = outcome {
            failures += 1
            let doubled = usual * (1 << min(failures, 10))
            return max(min(doubled, FeedPace.longest), min(retryAfter ?? .zero, FeedPace.longest * 12))
        }
        failures = 0
        if outcome == .news || lastNewsAt == nil { lastNewsAt = now }
        if outcome == .over { return max(usual, FeedPace.over) }
        return isSilent(now: now) ? max(usual, FeedPace.silent) : usual
    }

    package func isSilent(now: Timestamp) -> Bool { lastNewsAt.map { now - $0 >= FeedPace.patience } ?? false }
}
