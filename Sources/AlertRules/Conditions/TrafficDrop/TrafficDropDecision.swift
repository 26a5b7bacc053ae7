/// `traffic-drop/1` over one group.
struct TrafficDropDecision: Decision {
    let condition: TrafficDropCondition
    let series: MinuteSeries

    func decides(at minute: Minute) -> Bool { true }

    /// Too few in the time and in its newer half: a drop that is over does not page.
    func onset(at minute: Minute) -> EvaluatedWindow? {
        let window = series.evidence(endingAt: minute, minutes: condition.duration.minutes)
        let (attempts, usual) = (window.counts.attempts, usual(endingAt: minute, minutes: window.minutes))
        guard usual >= condition.minUsual, isBelow(attempts, usual), isBelow(endingAt: minute, minutes: window.minutes / 2),
            PoissonTail.probability(atMost: attempts, mean: Double(usual)) < TrafficDropCondition.alpha
        else { return nil }
        return EvaluatedWindow(level: .trafficDrop, window: window, expected: Double(usual))
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute {
        let middle = (1 + condition.below.double) / 2 * (onset.expected ?? 0) / Double(onset.window.minutes)
        return series.changePoint(in: onset.window) { middle - Double($0.attempts) }
    }

    /// The shortest good run since the condition was last met in which the drop would have been visible, or a week in which it was not met:
    /// then the present level is usual.
    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let since = minute - alert.lastSet
        var length = condition.resolveAfter.minutes
        while length <= min(since, condition.longest) {
            let (attempts, usual) = (series.window(endingAt: minute, minutes: length).attempts, usual(endingAt: minute, minutes: length))
            let expected = condition.below.double * Double(usual)
            if Double(attempts) >= condition.resolveAt.double * Double(usual), usual > 0,
                PoissonTail.probability(atLeast: attempts, mean: expected) < TrafficDropCondition.resolveAlpha
            {
                return evaluated(endingAt: minute, minutes: length)
            }
            length *= 2
        }
        return since >= TrafficDropCondition.week ? evaluated(endingAt: minute, minutes: condition.duration.minutes) : nil
    }

    var reopenWithin: Int { TrafficDropCondition.longestFactor * condition.resolveAfter.minutes }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let window = evaluated(endingAt: minute, minutes: condition.duration.minutes)
        return (window.expected ?? 0) >= Double(condition.minUsual) ? window : nil
    }

    private func isBelow(_ attempts: Int64, _ usual: Int64) -> Bool {
        Double(attempts) < condition.below.double * Double(usual) * (1 - 1e-9)
    }

    private func isBelow(endingAt last: Minute, minutes: Int) -> Bool {
        isBelow(series.window(endingAt: last, minutes: minutes).attempts, usual(endingAt: last, minutes: minutes))
    }

    private func evaluated(endingAt last: Minute, minutes: Int) -> EvaluatedWindow {
        let usual = Double(usual(endingAt: last, minutes: minutes))
        return EvaluatedWindow(level: .trafficDrop, window: series.evidence(endingAt: last, minutes: minutes), expected: usual)
    }

    /// The lower median of the same minutes of the weeks before, and of those an hour earlier and later the least.
    ///
    /// A week without data counts as one without attempts, so that most of the weeks must have had some.
    private func usual(endingAt last: Minute, minutes: Int) -> Int64 {
        let medians = [-TrafficDropCondition.shift, 0, TrafficDropCondition.shift].map { shift in
            let counts = (1...condition.weeks).map { week in
                series.window(endingAt: last + (shift - week * TrafficDropCondition.week), minutes: minutes).attempts
            }
            return counts.sorted()[(condition.weeks - 1) / 2]
        }
        return medians.min() ?? 0
    }
}
