/// `queue-age/1`: the oldest due delivery has waited too long.
///
/// Its minutes are samples of the queue: `attempts` counts samples, `bad` is the age of the oldest due delivery in seconds.
package struct QueueAgeCondition: Sendable, Hashable {
    package var of = AttemptFilter([:])
    /// The age that fires, strictly above this.
    package var above: RuleDuration
    package var duration: RuleDuration
    package var resolveAfter = RuleDuration(minutes: 5)

    package init(above: RuleDuration, for duration: RuleDuration) {
        self.above = above
        self.duration = duration
    }
}
