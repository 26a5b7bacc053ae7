/// `ratio/1` or `ratio/2` over one group, and the credentials that its attempts need.
struct RatioDecision: Decision {
    let condition: RatioCondition
    let series: MinuteSeries
    let circuits: CircuitMinutes
    private let verdicts: RatioVerdicts
    private let test: any RatioTest

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
        let before = condition.duration.minutes - 1 + condition.smooth.minutes - 1
        verdicts = RatioVerdicts(condition, series: series, from: first - before, through: last)
        let minutes = RatioMinutes(condition: condition, series: series, verdicts: verdicts)
        switch condition.version {
        case .one: test = Ratio1Test(minutes)
        case .two: test = Ratio2Test(minutes)
        }
    }

    private var length: Int { condition.duration.minutes }

    /// Minutes after its end within which an alert is opened again where the attempts since then do not exclude the incident.
    private static let longestReopening = 1440

    var reopenWithin: Int { condition.reopenWithin.minutes == 0 ? 0 : max(condition.reopenWithin.minutes, Self.longestReopening) }

    /// In little traffic an alert may end falsely and fire again much later. With attempts in half of the minutes between that do not prove
    /// its end, it is the same alert. The minutes that met the condition do not count, as they are bad either way.
    func reopens(_ closed: ClosedAlert, with onset: EvaluatedWindow, at minute: Minute) -> Bool {
        let elapsed = minute - closed.at
        guard elapsed > condition.reopenWithin.minutes else { return true }
        let newest = length + condition.smooth.minutes - 1
        guard elapsed <= Self.longestReopening, elapsed > newest, var since = closed.since else { return false }
        since.add(series[minute])
        for offset in 0..<newest { since.remove(series[minute - offset]) }
        return 2 * since.minutes >= elapsed - newest && !test.excludes(closed.alert, since.counts)
    }

    func settle(_ state: inout AlertState, at minute: Minute) {
        guard let closed = state.closed, minute > closed.at else { return }
        var since = closed.since ?? AttemptsSince()
        since.add(series[minute])
        state.closed?.since = since
    }

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
        test.onset(at: minute).map { EvaluatedWindow(level: .threshold, window: $0) }
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute {
        onset.level == .blocked ? onset.openCircuits.map(\.since).min() ?? onset.window.first : onset.window.first
    }

    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        // Waiting pushes were not attempted, so good attempts of others prove nothing about them.
        if condition.minBlocked != nil, circuits.isWaiting(at: minute) { return nil }
        return test.recovery(of: alert, at: minute).map { EvaluatedWindow(level: .threshold, window: $0) }
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let window = series.evidence(endingAt: minute, minutes: length)
        return window.counts.bad >= condition.minBad ? EvaluatedWindow(level: .threshold, window: window) : nil
    }
}
