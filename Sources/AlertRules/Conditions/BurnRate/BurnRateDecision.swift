/// `burn-rate/1` over one group.
///
/// The long window proves that much of the budget is used up, the short one that it still is: an incident that is over does not page, and
/// an alert ends soon after its cause.
struct BurnRateDecision: Decision {
    let condition: BurnRateCondition
    let series: MinuteSeries

    func decides(at minute: Minute) -> Bool { true }

    func onset(at minute: Minute) -> EvaluatedWindow? {
        let long = series.evidence(endingAt: minute, minutes: condition.long.minutes)
        guard long.counts.attempts >= condition.minAttempts, long.counts.bad >= condition.minBad,
            long.counts.isAbove(condition.threshold), short(endingAt: minute).isAbove(condition.threshold)
        else { return nil }
        return EvaluatedWindow(level: .threshold, window: long)
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute {
        series.changePoint(in: onset.window) { Double($0.bad) - condition.threshold.double * Double($0.attempts) }
    }

    /// The short window has been good for its length, and the incident would have been visible since the condition was last met; or the
    /// whole long window is good.
    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let since = minute - alert.lastSet
        let length = condition.short.minutes
        guard since >= length, (0..<length).allSatisfy({ !short(endingAt: minute - $0).isAbove(condition.threshold) }) else { return nil }
        var minutes = length
        while minutes <= min(since, condition.long.minutes) {
            let window = series.evidence(endingAt: minute, minutes: minutes)
            let expected = condition.threshold.double * Double(window.counts.attempts)
            if PoissonTail.probability(atMost: window.counts.bad, mean: expected) < BurnRateCondition.resolveAlpha {
                return EvaluatedWindow(level: .threshold, window: window)
            }
            minutes *= 2
        }
        let long = series.evidence(endingAt: minute, minutes: condition.long.minutes)
        guard since >= long.minutes, long.counts.attempts >= condition.minAttempts, !long.counts.isAbove(condition.threshold) else {
            return nil
        }
        return EvaluatedWindow(level: .threshold, window: long)
    }

    /// The long window still contains the incident that ended.
    var reopenWithin: Int { condition.long.minutes }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let long = series.evidence(endingAt: minute, minutes: condition.long.minutes)
        return long.counts.attempts >= condition.minAttempts ? EvaluatedWindow(level: .threshold, window: long) : nil
    }

    private func short(endingAt minute: Minute) -> AttemptCounts { series.window(endingAt: minute, minutes: condition.short.minutes) }
}
