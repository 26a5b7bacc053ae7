/// `backlog/1`: what waits to be sent is much, and has been growing for the whole of a time.
///
/// Its minutes are samples of the backlog: `attempts` counts samples, `bad` is what waited.
package struct BacklogCondition: Sendable, Hashable {
    package var of = AttemptFilter([:])
    /// What must wait now, strictly more than this.
    package var above: Int64
    package var duration: RuleDuration
    /// By how much what waits now must lie above the first third of the time, at least.
    var growsBy = Fraction(1, 5)
    package var resolveAfter = RuleDuration(minutes: 10)

    package init(above: Int64, for duration: RuleDuration) {
        self.above = above
        self.duration = duration
    }
}
