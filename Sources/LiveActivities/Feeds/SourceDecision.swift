import Cricket
import PushContract

/// Which of several sources of a match is used. Pure.
enum SourceDecision {
    /// A source that confirmed nothing for so long gives way to those of lower priority: twice the longest pause between two questions in
    /// play. One that says the same for so long gives way to one of the same priority, if play is further there: a cache may answer in its
    /// place.
    static let givesWayAfter = FeedPollInterval.longestInPlay + FeedPollInterval.silent

    /// After so long it gives way to one of the same priority, if play is further there: longer than the two pauses around one failed
    /// question. If the two took turns, names would change each time, and events of players in these steps would be lost.
    static let isLateAfter = FeedPollInterval.usual * 4

    /// How a state is ordered against the known one; nil: it is ignored.
    ///
    /// - Parameter changedAt: when the known state was taken in.
    static func order(
        of arrived: MatchSource,
        after current: MatchSource,
        confirmedAt: Timestamp,
        changedAt: Timestamp,
        now: Timestamp
    ) -> SourceOrder? {
        if arrived.url == current.url { return .same }
        let silent = now - confirmedAt
        if silent >= givesWayAfter { return .replacement }
        guard arrived.priority == current.priority else { return arrived.priority < current.priority ? .other : nil }
        return silent >= isLateAfter || now - changedAt >= givesWayAfter ? .further : nil
    }
}
