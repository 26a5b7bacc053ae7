/// `feed-silent/1`: the source of live subjects, such as a score feed, confirms nothing, and people follow them.
///
/// Its minutes are samples of the sources: `attempts` counts samples, `bad` is the number of followers whose subject was not confirmed
/// for too long: of a match for a minute, of others for their `freshFor`.
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
