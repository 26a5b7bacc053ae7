/// `feed-silent/1` over one group: samples of how many followers a silent feed affects.
struct FeedSilentDecision: Decision {
    let condition: FeedSilentCondition
    let series: MinuteSeries

    func decides(at minute: Minute) -> Bool { true }

    /// A minute without a sample says nothing; the first and the newest minute and half of the time must have one.
    func onset(at minute: Minute) -> EvaluatedWindow? {
        evaluated(at: minute, condition.duration) { isAbove($0) }
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute { onset.window.first }

    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        evaluated(at: minute, condition.resolveAfter) { !isAbove($0) }
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        followers(at: minute).map { EvaluatedWindow(level: .feedSilent, window: evidence(at: minute, condition.duration, $0)) }
    }

    func ruleStatus(at minute: Minute) -> RuleStatus {
        let length = condition.duration.minutes
        let now = followers(at: minute) ?? 0
        let silent = (0..<length).count { followers(at: minute - $0).map(isAbove) ?? false }
        let text =
            "\(now) followers of a match whose feed confirms nothing, for \(silent) of \(length) minutes more than \(condition.above)"
        let parts = [Double(now) / Double(condition.above + 1), Double(silent) / Double(length)]
        return RuleStatus(isSet: onset(at: minute) != nil, parts: parts, text: text)
    }

    func point(at minute: Minute) -> RuleChartPoint {
        let counts = series[minute]
        return RuleChartPoint(minute: minute, counts: counts, verdict: verdict(counts, at: minute))
    }

    private func isAbove(_ followers: Int64) -> Bool { followers > condition.above }

    /// Nil without a sample.
    private func followers(at minute: Minute) -> Int64? {
        let counts = series[minute]
        return counts.attempts > 0 ? counts.bad : nil
    }

    private func evaluated(at minute: Minute, _ duration: RuleDuration, _ counts: (Int64) -> Bool) -> EvaluatedWindow? {
        let samples = (0..<duration.minutes).compactMap { followers(at: minute - $0) }
        guard let now = followers(at: minute), followers(at: minute - (duration.minutes - 1)) != nil, samples.count * 2 >= duration.minutes,
            samples.allSatisfy(counts)
        else { return nil }
        return EvaluatedWindow(level: .feedSilent, window: evidence(at: minute, duration, now))
    }

    private func evidence(at minute: Minute, _ duration: RuleDuration, _ followers: Int64) -> WindowCounts {
        let first = minute - (duration.minutes - 1)
        return WindowCounts(first: first, minutes: duration.minutes, counts: AttemptCounts(attempts: 1, bad: followers))
    }
}
