/// What the versions of `ratio` differ in: when a share sets the condition, and when it is over.
protocol RatioTest {
    init(_ minutes: RatioMinutes)
    /// The window when the condition is met in full at a closed minute.
    func onset(at minute: Minute) -> WindowCounts?
    /// The good run that proves recovery.
    func recovery(of alert: FiringAlert, at minute: Minute) -> WindowCounts?
    /// Whether the counts prove that the incident of an alert is over.
    func excludes(_ alert: FiringAlert, _ counts: AttemptCounts) -> Bool
}

/// The minutes of one group with what each says: what all versions have in common.
struct RatioMinutes {
    let condition: RatioCondition
    let series: MinuteSeries
    let verdicts: RatioVerdicts

    var length: Int { condition.duration.minutes }

    func hasQuorum(at minute: Minute) -> Bool { RatioQuorum(condition, verdicts, endingAt: minute).isMet }

    /// The share is above the threshold, and so certainly that few attempts are not taken for many.
    func isProven(_ counts: AttemptCounts) -> Bool {
        guard counts.isAbove(condition.above) else { return false }
        guard let bound = condition.guardConfidence else { return true }
        return bound.lowerBound(counts) > condition.guardAt.double
    }
}
