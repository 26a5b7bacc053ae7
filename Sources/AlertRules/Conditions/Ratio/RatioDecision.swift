/// `ratio/1` over one group (§2.2).
struct RatioDecision: Decision {
    let condition: RatioCondition
    let series: MinuteSeries
    let circuits: CircuitMinutes
    let verdicts: RatioVerdicts

    /// Ready to decide about every minute from `first` to `last`.
    init(
        _ condition: RatioCondition,
        series: MinuteSeries,
        circuits: CircuitMinutes = CircuitMinutes(),
        from first: Minute,
        through last: Minute
    ) {
        self.condition = condition
        self.series = series
        self.circuits = circuits
        verdicts = RatioVerdicts(condition, series: series, from: first - (condition.duration.minutes - 1), through: last)
    }

    private var length: Int { condition.duration.minutes }

    func decides(at minute: Minute) -> Bool { true }

    /// The share, or a credential that has been refused throughout: then nothing is attempted, so there is no meaningful share.
    func onset(at minute: Minute) -> EvaluatedWindow? {
        guard let least = condition.minBlocked else { return shareOnset(at: minute) }
        let refused = circuits.refused(at: minute, for: length)
        if var onset = shareOnset(at: minute) {
            onset.openCircuits = refused
            return onset
        }
        guard !refused.isEmpty, refused.reduce(0, { $0 + $1.waiting }) >= least else { return nil }
        return EvaluatedWindow(level: .blocked, window: series.evidence(endingAt: minute, minutes: length), openCircuits: refused)
    }

    private func shareOnset(at minute: Minute) -> EvaluatedWindow? {
        guard verdicts[minute] == .breach, verdicts[minute - (length - 1)] == .breach, hasQuorum(at: minute) else { return nil }
        let window = series.evidence(endingAt: minute, minutes: length)
        guard window.counts.bad >= condition.minBad, window.counts.isAbove(condition.above), passesGuard(window.counts) else { return nil }
        return EvaluatedWindow(level: .threshold, window: window)
    }

    /// At least half of the window can be judged, and the quorum of those minutes breaches.
    private func hasQuorum(at minute: Minute) -> Bool {
        let (breaches, evaluable) = verdicts.window(endingAt: minute, minutes: length)
        let quorum = condition.quorum
        return 2 * evaluable >= length && Int64(breaches) * quorum.denominator >= quorum.numerator * Int64(evaluable)
    }

    private func passesGuard(_ counts: AttemptCounts) -> Bool {
        guard let bound = condition.guardConfidence else { return true }
        return bound.lowerBound(counts) > condition.guardAt.double
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute {
        onset.level == .blocked ? onset.openCircuits.map(\.since).min() ?? onset.window.first : onset.window.first
    }

    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        // Waiting pushes were not attempted, so good attempts of others prove nothing about them.
        if condition.minBlocked != nil, circuits.isWaiting(at: minute) { return nil }
        var minutes = condition.resolveAfter.minutes
        while true {
            let stretched = minutes > condition.resolveAfter.minutes || alert.evidence.level == .blocked
            // A stretched window must not reach back over a minute at which the condition was met.
            if stretched, minute - (minutes - 1) <= alert.lastSet { return nil }
            if let good = clear(at: minute, minutes: minutes) {
                return good ? EvaluatedWindow(level: .threshold, window: series.evidence(endingAt: minute, minutes: minutes)) : nil
            }
            if minutes >= condition.resolveWithin.minutes { return nil }
            minutes = min(minutes * 2, condition.resolveWithin.minutes)
        }
    }

    /// Whether both halves of the window are good; nil when one contains too few attempts to decide.
    private func clear(at minute: Minute, minutes: Int) -> Bool? {
        let newer = series.window(endingAt: minute, minutes: minutes / 2)
        let older = series.window(endingAt: minute - minutes / 2, minutes: minutes - minutes / 2)
        guard min(newer.attempts, older.attempts) >= condition.minAttemptsToClear else { return nil }
        return !newer.isAbove(condition.resolveAt) && !older.isAbove(condition.resolveAt)
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let window = series.evidence(endingAt: minute, minutes: length)
        return window.counts.bad >= condition.minBad ? EvaluatedWindow(level: .threshold, window: window) : nil
    }

    /// How near each requirement is to being met.
    func ruleStatus(at minute: Minute) -> RuleStatus {
        let (breaches, evaluable) = verdicts.window(endingAt: minute, minutes: length)
        let counts = series.window(endingAt: minute, minutes: length)
        let minutesNeeded = max(1, (condition.quorum.double * Double(max(evaluable, (length + 1) / 2))).rounded(.up))
        let parts = [
            Double(breaches) / minutesNeeded,
            Double(counts.bad) / Double(condition.minBad),
            (counts.share ?? 0) / condition.above.double,
        ]
        let observed = counts.share.map(Fraction.percent) ?? "no attempts"
        let text = "\(breaches) of \(length) minutes above \(condition.above.percent); \(observed) in the last \(condition.duration)"
        let waiting = circuits[minute].reduce(0) { $0 + $1.waiting }
        let remark = waiting > 0 ? "; \(waiting) wait for a refused credential" : ""
        return RuleStatus(isSet: onset(at: minute) != nil, parts: parts, text: text + remark)
    }

    func point(at minute: Minute) -> RuleChartPoint {
        RuleChartPoint(minute: minute, counts: series[minute], expected: nil, verdict: verdicts[minute])
    }
}
