/// `queue-age/1` over one group: samples of the age of the oldest due delivery.
struct QueueAgeDecision: Decision {
    let condition: QueueAgeCondition
    let series: MinuteSeries

    func decides(at minute: Minute) -> Bool { true }

    /// A minute without a sample says nothing; the first and the newest minute and half of the time must have one.
    func onset(at minute: Minute) -> EvaluatedWindow? {
        evaluated(at: minute, condition.duration) { isOld($0) }
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute { onset.window.first }

    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        evaluated(at: minute, condition.resolveAfter) { !isOld($0) }
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        seconds(at: minute).map { EvaluatedWindow(level: .queueAge, window: evidence(at: minute, condition.duration, $0)) }
    }

    func ruleStatus(at minute: Minute) -> RuleStatus {
        let length = condition.duration.minutes
        let age = seconds(at: minute) ?? 0
        let old = (0..<length).count { seconds(at: minute - $0).map(isOld) ?? false }
        let text = "the oldest due delivery has waited \(age) s, for \(old) of \(length) minutes longer than \(condition.above)"
        let parts = [Double(age) / condition.threshold.double, Double(old) / Double(length)]
        return RuleStatus(isSet: onset(at: minute) != nil, parts: parts, text: text)
    }

    func point(at minute: Minute) -> RuleChartPoint {
        let counts = series[minute]
        return RuleChartPoint(minute: minute, counts: counts, verdict: verdict(counts, at: minute))
    }

    private func isOld(_ seconds: Int64) -> Bool { seconds > condition.threshold.numerator }

    /// Nil without a sample.
    private func seconds(at minute: Minute) -> Int64? {
        let counts = series[minute]
        return counts.attempts > 0 ? counts.bad : nil
    }

    private func evaluated(at minute: Minute, _ duration: RuleDuration, _ counts: (Int64) -> Bool) -> EvaluatedWindow? {
        let samples = (0..<duration.minutes).compactMap { seconds(at: minute - $0) }
        guard let now = seconds(at: minute), seconds(at: minute - (duration.minutes - 1)) != nil, samples.count * 2 >= duration.minutes,
            samples.allSatisfy(counts)
        else { return nil }
        return EvaluatedWindow(level: .queueAge, window: evidence(at: minute, duration, now))
    }

    private func evidence(at minute: Minute, _ duration: RuleDuration, _ seconds: Int64) -> WindowCounts {
        let first = minute - (duration.minutes - 1)
        return WindowCounts(first: first, minutes: duration.minutes, counts: AttemptCounts(attempts: 1, bad: seconds))
    }
}
