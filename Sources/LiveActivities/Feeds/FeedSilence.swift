import Postgres
import PushContract

/// What follows when the feed of a match that is being played confirms its state no more. Pushed feeds confirm a state by sending it again.
enum FeedSilence {
    /// From then on followers count as affected, for alert rules. A polled feed is asked twice as often at least.
    static let countsFollowersAfter = Duration.seconds(60)
    /// From then on the feed is counted as silent.
    static let countsAfter = Duration.seconds(300)
    /// From then on cards are shown as out of date, and nothing is started or rolled over: it would alert people of an old score.
    static let staleAfter = LivePayloads.staleAfter
    /// From then on activities end. Rain and a planned break are shorter.
    static let endsAfter = Duration.seconds(6 * 3600)
    /// In `endCause` of activities that ended so. They are started again when the feed is back.
    static let cause = "feed_silent"

    /// Of the match `m` that is being played: for how many seconds its feed has confirmed nothing. Who pushes has nothing to say in a break, so
    /// that only counts once cards are out of date.
    static func seconds(now: Timestamp) -> Query {
        """
        CASE WHEN m.feedUrl IS NULL AND m.phase <> 'live' AND \(isFresh(now: now)) THEN 0
            ELSE greatest(0, floor(extract(epoch FROM \(now)::timestamptz - m.confirmedAt)))::bigint END
        """
    }

    /// Of the subject `m`: its cards are not out of date. A subject without a feed has no `confirmedAt`.
    static func isFresh(now: Timestamp) -> Query { "coalesce(m.confirmedAt, 'infinity') >= \(now - staleAfter)" }
}
