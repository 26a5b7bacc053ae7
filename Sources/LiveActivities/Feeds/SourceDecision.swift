import Cricket
import PushContract

/// Which of several sources of a match is heard. Pure.
enum SourceDecision {
    /// A source that confirmed nothing for so long gives way to those of lower priority: twice the longest pause between two questions in play.
    static let givesWayAfter = FeedPollInterval.longestInPlay + FeedPollInterval.silent

    /// How a state is ordered against the known one; nil: it is not heard.
    static func order(of arrived: MatchSource, after current: MatchSource, confirmedAt: Timestamp, now: Timestamp) -> SourceOrder? {
        if arrived.url == current.url { return .same }
        if now - confirmedAt >= givesWayAfter { return .replacement }
        return arrived.priority <= current.priority ? .other : nil
    }
}
