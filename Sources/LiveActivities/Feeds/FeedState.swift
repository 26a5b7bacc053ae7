package import PushContract

/// Whether the score of a match can be relied on. Pure.
package enum FeedState: String, Sendable, Hashable, CaseIterable, Encodable {
    /// Its feed confirmed it within the last five minutes, or there is nothing to confirm: it is not being played.
    case confirmed
    /// Nothing was confirmed for five minutes.
    case silent
    /// For half an hour: cards are shown as out of date, and nothing is started.
    case stale
    /// For six hours: activities have ended.
    case lost

    package init(phase: String, confirmedAt: Timestamp, now: Timestamp) {
        let silence = now - confirmedAt
        guard ["live", "break", "interrupted"].contains(phase), silence >= FeedSilence.countsAfter else {
            self = .confirmed
            return
        }
        self = silence > FeedSilence.endsAfter ? .lost : silence > FeedSilence.staleAfter ? .stale : .silent
    }
}
