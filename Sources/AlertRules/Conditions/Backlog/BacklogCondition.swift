/// `backlog/1`: many deliveries wait, and their number has grown for the whole duration.
///
/// Its minutes are samples of the backlog: `attempts` counts samples, `bad` is how many waited.
package struct BacklogCondition: Sendable, Hashable {
    package var of = AttemptFilter([:])
    /// How many must wait now, strictly more than this.
    package var above: Int64
    package var duration: RuleDuration
    /// By what part the number that waits now must exceed that of the first third of the duration, at least.
    var growsBy = Fraction(1, 5)
    package var resolveAfter = RuleDuration(minutes: 10)

    package init(above: Int64, for duration: RuleDuration) {
        self.above = above
        self.duration = duration
    }
}
