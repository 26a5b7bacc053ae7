/// `absence/1` over one group.
struct AbsenceDecision: Decision {
    let condition: AbsenceCondition
    let series: MinuteSeries

    func decides(at minute: Minute) -> Bool { true }

    func onset(at minute: Minute) -> EvaluatedWindow? {
        guard let window = failing(endingAt: minute) else { return nil }
        let newer = series.window(endingAt: minute, minutes: window.minutes / 2)
        guard newer.bad > 0, newer.bad < window.counts.bad else { return nil }
        return EvaluatedWindow(level: .absence, window: window)
    }

    /// The time without a success that contains enough failures: `for`, and in low traffic up to `longest`.
    ///
    /// At about one attempt a minute it is chance whether ten failures are in ten minutes: without the longer window, a ratio rule with a
    /// longer `for` could page before this one does.
    private func failing(endingAt minute: Minute) -> WindowCounts? {
        for length in condition.duration.minutes...condition.longest {
            let window = series.evidence(endingAt: minute, minutes: length)
            guard window.counts.attempts == window.counts.bad else { return nil }
            if window.counts.bad >= condition.minAttempts { return window }
        }
        return nil
    }

    /// The first failure after the last success, as far back as the rule looks.
    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute {
        var first = onset.window.first
        let oldest = max(series.first, minute - (condition.lookback - 1))
        while first > oldest, isWithoutSuccess(first - 1) { first = first - 1 }
        while first < minute, series[first].bad == 0 { first = first + 1 }
        return first
    }

    private func isWithoutSuccess(_ minute: Minute) -> Bool { series[minute].attempts == series[minute].bad }

    /// Enough successes since the condition was last met, over a time that is long enough.
    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let since = minute - alert.lastSet
        guard since >= condition.resolveAfter.minutes else { return nil }
        let window = series.evidence(endingAt: minute, minutes: min(since, condition.resolveWithin.minutes))
        guard window.counts.attempts - window.counts.bad >= condition.minSuccesses else { return nil }
        return EvaluatedWindow(level: .absence, window: window)
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? { nil }
}
