/// The level of an alert, as a person accepts it.
enum BaselineLevel {
    /// The share of each stratum by which exactly the bad attempts of a window are expected.
    ///
    /// A stratum with few expected failures is shrunk towards the level that it would have if it had risen as the group has, with the
    /// weight of one expected failure. One without attempts is left out. `usual`: the healthy share of each stratum.
    static func shares(in window: WindowCounts, of history: GroupHistory, usual: [Double]) -> [FrozenShare] {
        let counts = history.strata.map { $0.series.window(endingAt: window.last, minutes: window.minutes) }
        let observed = counts.reduce(0) { $0 + $1.bad }
        let expected = zip(counts, usual).reduce(0.0) { $0 + Double($1.0.attempts) * $1.1 }
        guard observed > 0, expected > 0 else { return [] }
        let rise = Double(observed) / expected
        let drawn = zip(counts, usual).map { counts, usual in
            usual * (Double(counts.bad) + rise) / (usual * Double(counts.attempts) + 1)
        }
        let sum = zip(counts, drawn).reduce(0.0) { $0 + Double($1.0.attempts) * $1.1 }
        return zip(history.strata, zip(counts, drawn)).compactMap { stratum, level in
            guard level.0.attempts > 0 else { return nil }
            return FrozenShare(stratum: stratum.key, share: min(1, level.1 * Double(observed) / sum))
        }
    }
}

extension GroupHistory {
    /// An alert that fired before a level was accepted ends with it. One that fires afterwards fires although the level is expected.
    func accepts(_ alert: FiringAlert, at minute: Minute) -> Bool {
        acceptances.contains { $0.isInForce(at: minute) && alert.firedAt <= $0.from }
    }
}

extension RuleEvaluation {
    /// The level of an alert, to be accepted: what of each stratum has failed from its beginning to `minute`, at most for the longest
    /// window. When that contains too few failures to decide, the worst window of the alert is meant, from the alert's beginning.
    ///
    /// Time before the beginning would dilute the level, and the alert would fire again for what was accepted. Empty for a rule without a
    /// baseline, and when the history does not cover the time.
    package static func level(
        _ rule: AlertRule,
        _ history: GroupHistory,
        since start: Minute,
        through minute: Minute,
        isWorst: Bool = false
    ) -> [FrozenShare] {
        guard let baseline = rule.condition.baseline, start <= minute else { return [] }
        let length = min(minute - start + 1, baseline.lookback)
        let window = history.total.evidence(endingAt: minute, minutes: length)
        guard isWorst || window.counts.bad >= baseline.minBad else { return [] }
        let usual =
            switch baseline.version {
            case .one: Baseline1Decision(baseline, history: history).shares.shares(from: window.first, through: window.last)
            case .two: Baseline2Decision(baseline, history: history).usualShares(at: minute)
            }
        return BaselineLevel.shares(in: window, of: history, usual: usual)
    }
}
