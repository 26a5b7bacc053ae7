/// `backlog/1` over one group: samples of a backlog.
///
/// A minute grows when more than the threshold waits, and more than a third of the duration earlier. The comparison over a third allows
/// short fluctuations; growth below the threshold is ignored, since a small queue grows by chance half of the time. Minutes without a
/// sample are left out.
struct BacklogDecision: Decision {
    let condition: BacklogCondition
    let series: MinuteSeries

    func decides(at minute: Minute) -> Bool { true }

    func onset(at minute: Minute) -> EvaluatedWindow? {
        guard let now = value(at: minute), grows(at: minute) == true, growsThroughout(at: minute), !isDraining(at: minute),
            let before = before(minute), Double(now) >= before * (1 + condition.growsBy.double)
        else { return nil }
        return EvaluatedWindow(level: .backlog, window: evidence(at: minute, before: Int64(before.rounded()), now: now))
    }

    /// At least half of the time was sampled, and four fifths of that grew.
    private func growsThroughout(at minute: Minute) -> Bool {
        let length = condition.duration.minutes
        let verdicts = (0..<length).compactMap { grows(at: minute - $0) }
        return verdicts.count * 2 >= length && verdicts.count { $0 } * 5 >= verdicts.count * 4
    }

    /// Nil when either minute was not sampled.
    private func grows(at minute: Minute) -> Bool? {
        guard let now = value(at: minute), let then = value(at: minute - third) else { return nil }
        return now > condition.above && now > then
    }

    /// More is sent than is added: less waits than at some minute of the last third. Without this a queue that is being worked off would
    /// count as grown for as long as it took to fill.
    private func isDraining(at minute: Minute) -> Bool {
        guard let now = value(at: minute) else { return false }
        return (1...third).contains { (value(at: minute - $0) ?? 0) > now }
    }

    private var third: Int { max(1, condition.duration.minutes / 3) }

    /// What waited in the first third of the time.
    private func before(_ minute: Minute) -> Double? {
        mean(endingAt: minute - (condition.duration.minutes - third), minutes: third)
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute { onset.window.first }

    /// Back at or below the threshold, or shrinking, throughout.
    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let length = condition.resolveAfter.minutes
        let half = length / 2
        guard let now = value(at: minute), let newer = mean(endingAt: minute, minutes: half),
            let older = mean(endingAt: minute - half, minutes: length - half)
        else { return nil }
        let isLow = (0..<length).allSatisfy { (value(at: minute - $0) ?? 0) <= condition.above }
        guard isLow || newer < older * 0.95 else { return nil }
        return EvaluatedWindow(level: .backlog, window: evidence(at: minute, before: Int64(older.rounded()), now: now, minutes: length))
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        value(at: minute).map { now in
            EvaluatedWindow(level: .backlog, window: evidence(at: minute, before: Int64((before(minute) ?? 0).rounded()), now: now))
        }
    }

    /// Nil without a sample.
    private func value(at minute: Minute) -> Int64? {
        let counts = series[minute]
        return counts.attempts > 0 ? counts.bad : nil
    }

    private func evidence(at minute: Minute, before: Int64, now: Int64, minutes: Int? = nil) -> WindowCounts {
        let length = minutes ?? condition.duration.minutes
        return WindowCounts(first: minute - (length - 1), minutes: length, counts: AttemptCounts(attempts: before, bad: now))
    }

    private func mean(endingAt last: Minute, minutes: Int) -> Double? {
        let values = (0..<minutes).compactMap { value(at: last - $0) }
        return values.count * 2 >= minutes && !values.isEmpty ? Double(values.reduce(0, +)) / Double(values.count) : nil
    }
}
