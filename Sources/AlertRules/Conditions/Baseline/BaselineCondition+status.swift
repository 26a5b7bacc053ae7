extension BaselineCondition {
    /// How far a window is from firing: observed ÷ expected against the threshold.
    func status(_ now: EvaluatedWindow, isSet: Bool) -> RuleStatus {
        let expected = now.expected ?? 0
        let bad = Double(now.window.counts.bad)
        let ratio = expected > 0 ? bad / expected : 0
        let parts = [ratio / above.double, bad / Double(minBad)]
        let text =
            "\(Fraction.rounded(ratio))× of the \(Fraction.rounded(expected)) expected in the last "
            + "\(RuleDuration(minutes: now.window.minutes)); fires above \(above.multiple)"
        return RuleStatus(isSet: isSet, parts: parts, text: text)
    }

    /// How far the fixed share is that a baseline compares with while it learns.
    func learningStatus(_ series: MinuteSeries, isSet: Bool, at minute: Minute) -> RuleStatus {
        let counts = series.window(endingAt: minute, minutes: window.minutes)
        let observed = counts.share.map(Fraction.percent) ?? "no attempts"
        let parts = warnAbove.map { [(counts.share ?? 0) / $0.double, Double(counts.bad) / Double(warnMinBad)] }
        return RuleStatus(isSet: isSet, parts: parts ?? [0], text: "learning; \(observed) in the last \(window)")
    }
}
