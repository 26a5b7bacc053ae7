import PushContract

/// Whether the state of a subject can be relied on. Pure.
package enum FeedState: String, Sendable, Hashable, CaseIterable, Encodable {
    /// Its source confirmed it, or there is nothing to confirm: it is not live.
    case confirmed
    /// Nothing was confirmed for five minutes, of a match.
    case silent
    /// For longer than `freshFor`: cards are shown as out of date, and nothing is started.
    case stale
    /// For so long that activities have ended.
    case lost

    /// - Parameter silentAfter: of its source (`subjectSources`).
    init(isLive: Bool, _ freshness: Freshness, silentAfter: Duration, now: Timestamp) {
        guard isLive, now - freshness.confirmedAt >= silentAfter else {
            self = .confirmed
            return
        }
        self = freshness.isLost(now: now) ? .lost : freshness.isFresh(now: now) ? .silent : .stale
    }

    /// Of the columns `isLive`, `confirmedAt`, `freshFor` and `silentAfter` of `subjectSources`.
    init(_ isLive: Bool, _ confirmedAt: Timestamp, _ freshFor: Int32, _ silentAfter: Int32, now: Timestamp) {
        let freshness = Freshness(confirmedAt: confirmedAt, freshFor: .seconds(Int64(freshFor)))
        self.init(isLive: isLive, freshness, silentAfter: .seconds(Int64(silentAfter)), now: now)
    }
}
