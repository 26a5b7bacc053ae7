/// `feed-silent/1`: the score feed of matches that are being played confirms nothing, and people follow them.
///
/// Its minutes are samples of the feeds: `attempts` counts samples, `bad` is the number of followers whose match the feed confirmed nothing of
/// for a minute or longer.
package struct FeedSilentCondition: Sendable, Hashable {
    package static let by: [Dimension] = [.feed]

    package var of = AttemptFilter([:])
    /// How many followers must be affected, strictly more than this.
    package var above: Int64 = 0
    package var duration: RuleDuration
    package var resolveAfter = RuleDuration(minutes: 3)

    package init(above: Int64 = 0, for duration: RuleDuration) {
        self.above = above
        self.duration = duration
    }
}
