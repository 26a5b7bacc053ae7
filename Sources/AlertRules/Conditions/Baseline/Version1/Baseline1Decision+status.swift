extension Baseline1Decision {
    /// Observed ÷ expected against the threshold, or how far learning has come.
    func ruleStatus(at minute: Minute) -> RuleStatus {
        let isSet = onset(at: minute) != nil
        if isLearning(at: minute) { return condition.learningStatus(history.total, isSet: isSet, at: minute) }
        return condition.status(current(at: minute), isSet: isSet)
    }

    func point(at minute: Minute) -> RuleChartPoint {
        let now = current(at: minute)
        let counts = now.window.counts
        return RuleChartPoint(minute: minute, counts: counts, expected: now.expected, verdict: verdict(counts, at: minute))
    }
}
