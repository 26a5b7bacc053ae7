import Postgres
import PushContract

/// Until when the state of a subject can be shown as current, and what follows then. Pure.
///
/// Its source confirms a state by sending it, also the same one again, and a polled feed by 304. A match has such a source; a subject of
/// another type has one if it has `freshFor`.
struct Freshness: Sendable, Hashable {
    /// In `endCause` of activities that ended because nothing was confirmed. They are started again when the source is back.
    static let cause = "feed_silent"
    /// Activities end no sooner: rain and a planned break are shorter.
    static let shortestEnd = Duration.seconds(6 * 3600)
    /// And no sooner than after so many times `freshFor`.
    static let timesToEnd = 12

    var confirmedAt: Timestamp
    var freshFor: Duration

    /// From then on cards are shown as out of date, and nothing is started or rolled over: it would alert people of an old state.
    var staleAt: Timestamp { confirmedAt + freshFor }
    /// From then on activities end.
    var endsAt: Timestamp { confirmedAt + max(Freshness.shortestEnd, freshFor * Freshness.timesToEnd) }

    func isFresh(now: Timestamp) -> Bool { now <= staleAt }
    func isLost(now: Timestamp) -> Bool { now > endsAt }
}

extension Freshness {
    /// As its row has it; nil without `freshFor`.
    init?(confirmedAt: Timestamp, seconds: Int32?) {
        guard let seconds else { return nil }
        self.init(confirmedAt: confirmedAt, freshFor: .seconds(Int64(seconds)))
    }

    /// `isFresh` of the subject `m`; true without `freshFor`.
    static func isFresh(now: Timestamp) -> Query {
        "coalesce(m.confirmedAt + m.freshFor * interval '1 second' >= \(now), true)"
    }

    /// `isLost` of the subject `m`.
    static func isLost(now: Timestamp) -> Query {
        """
        (m.freshFor IS NOT NULL AND m.confirmedAt
            + greatest(\(shortestEnd.components.seconds)::bigint, \(Int64(timesToEnd))::bigint * m.freshFor) * interval '1 second' < \(now))
        """
    }
}
