/// `ratio/1`, for backtests: resolves after so many good attempts, whether or not they contradict the incident.
struct Ratio1Test: RatioTest {
    private let minutes: RatioMinutes
    private var condition: RatioCondition { minutes.condition }

    init(_ minutes: RatioMinutes) { self.minutes = minutes }

    func onset(at minute: Minute) -> WindowCounts? {
        let (verdicts, length) = (minutes.verdicts, minutes.length)
        guard verdicts[minute] == .breach, verdicts[minute - (length - 1)] == .breach, minutes.hasQuorum(at: minute) else { return nil }
        let window = minutes.series.evidence(endingAt: minute, minutes: length)
        return window.counts.bad >= condition.minBad && minutes.isProven(window.counts) ? window : nil
    }

    /// It opens no alert again.
    func excludes(_ alert: FiringAlert, _ counts: AttemptCounts) -> Bool { true }

    func recovery(of alert: FiringAlert, at minute: Minute) -> WindowCounts? {
        var length = condition.resolveAfter.minutes
        while true {
            let extended = length > condition.resolveAfter.minutes || alert.evidence.level == .blocked
            // An extended window must not reach back over a minute at which the condition was met.
            if extended, minute - (length - 1) <= alert.lastSet { return nil }
            if let good = clear(at: minute, length) {
                return good ? minutes.series.evidence(endingAt: minute, minutes: length) : nil
            }
            if length >= condition.resolveWithin.minutes { return nil }
            length = min(length * 2, condition.resolveWithin.minutes)
        }
    }

    /// Whether both halves of the window are good; nil when one contains too few attempts to decide.
    private func clear(at minute: Minute, _ length: Int) -> Bool? {
        let newer = minutes.series.window(endingAt: minute, minutes: length / 2)
        let older = minutes.series.window(endingAt: minute - length / 2, minutes: length - length / 2)
        guard min(newer.attempts, older.attempts) >= condition.minAttemptsToClear else { return nil }
        return !newer.isAbove(condition.resolveAt) && !older.isAbove(condition.resolveAt)
    }
}
