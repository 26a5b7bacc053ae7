extension Baseline2Decision {
    /// The window that is nearest to firing, or how far learning has come.
    func ruleStatus(at minute: Minute) -> RuleStatus {
        let isSet = onset(at: minute) != nil
        guard let reference = ready(at: minute) else { return condition.learningStatus(history.total, isSet: isSet, at: minute) }
        let statuses = Baseline2.rungs.map { condition.status(evaluated($0.minutes, reference, at: minute), isSet: isSet) }
        return statuses.reduce(statuses[0]) { $1.fraction > $0.fraction ? $1 : $0 }
    }

    func point(at minute: Minute) -> RuleChartPoint {
        guard let reference = ready(at: minute) else {
            let counts = history.total.window(endingAt: minute, minutes: Baseline2.rungs[0].minutes)
            return RuleChartPoint(minute: minute, counts: counts, verdict: verdict(counts, at: minute))
        }
        let now = evaluated(Baseline2.rungs[0].minutes, reference, at: minute)
        return RuleChartPoint(
            minute: minute,
            counts: now.window.counts,
            expected: now.expected,
            verdict: verdict(now.window.counts, at: minute)
        )
    }

    private func evaluated(_ minutes: Int, _ reference: Baseline2Reference, at minute: Minute) -> EvaluatedWindow {
        let (counts, expectation) = window(minutes, reference, at: minute)
        let window = WindowCounts(first: minute - (minutes - 1), minutes: minutes, counts: counts)
        return EvaluatedWindow(level: .reference, window: window, expected: expectation.expected)
    }
}
