/// The decision over one group of a condition whose minutes are samples of a value: above a threshold for a duration.
/// `attempts` counts samples, `bad` is the value.
struct SampleDecision: Decision {
    let series: MinuteSeries
    /// Strictly more than this fires.
    let threshold: Int64
    let duration: RuleDuration
    let resolveAfter: RuleDuration
    let level: Evidence.Level
    /// How many minutes before the first sample above the threshold the fault began: an age grows by a minute each minute.
    var lead = 0

    func decides(at minute: Minute) -> Bool { true }

    /// Minutes without a sample are left out; the first and the newest minute and half of the time must have one.
    func onset(at minute: Minute) -> EvaluatedWindow? {
        evaluated(at: minute, duration) { isAbove($0) }
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute { onset.window.first - lead }

    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        evaluated(at: minute, resolveAfter) { !isAbove($0) }
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        value(at: minute).map { EvaluatedWindow(level: level, window: evidence(at: minute, duration, $0)) }
    }

    private func isAbove(_ value: Int64) -> Bool { value > threshold }

    /// Nil without a sample.
    private func value(at minute: Minute) -> Int64? {
        let counts = series[minute]
        return counts.attempts > 0 ? counts.bad : nil
    }

    private func evaluated(at minute: Minute, _ duration: RuleDuration, _ matches: (Int64) -> Bool) -> EvaluatedWindow? {
        let samples = (0..<duration.minutes).compactMap { value(at: minute - $0) }
        guard let now = value(at: minute), value(at: minute - (duration.minutes - 1)) != nil, samples.count * 2 >= duration.minutes,
            samples.allSatisfy(matches)
        else { return nil }
        return EvaluatedWindow(level: level, window: evidence(at: minute, duration, now))
    }

    private func evidence(at minute: Minute, _ duration: RuleDuration, _ value: Int64) -> WindowCounts {
        let first = minute - (duration.minutes - 1)
        return WindowCounts(first: first, minutes: duration.minutes, counts: AttemptCounts(attempts: 1, bad: value))
    }
}
