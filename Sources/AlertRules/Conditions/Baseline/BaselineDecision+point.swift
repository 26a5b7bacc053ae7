extension BaselineDecision {
    func point(at minute: Minute) -> RuleChartPoint {
        let now = current(at: minute)
        let counts = now.window.counts
        return RuleChartPoint(minute: minute, counts: counts, expected: now.expected, verdict: verdict(counts, at: minute))
    }
}
