extension BaselineDecision {
    /// The minute from which the excess over half-way to the threshold adds up to the most.
    ///
    /// A window of an hour may fire minutes after a steep rise; its first minute would be a wrong answer to "since when?".
    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute {
        let counts = onset.window.counts
        let perAttempt: Double
        if let expected = onset.expected, counts.attempts > 0 {
            perAttempt = expected / Double(counts.attempts) * (1 + condition.above.double) / 2
        } else {
            perAttempt = (condition.warnAbove ?? condition.floor).double / 2
        }
        var sum = 0.0
        var best = (sum: -Double.infinity, minute: onset.window.first)
        for offset in 0..<onset.window.minutes {
            let candidate = minute - offset
            let now = history.total[candidate]
            sum += Double(now.bad) - Double(now.attempts) * perAttempt
            if sum > best.sum, now.bad > 0 { best = (sum, candidate) }
        }
        return best.minute
    }

    /// Observed ÷ expected against the threshold, or how far learning has come.
    func ruleStatus(at minute: Minute) -> RuleStatus {
        let isSet = onset(at: minute) != nil
        if isLearning(at: minute) {
            let counts = history.total.window(endingAt: minute, minutes: condition.window.minutes)
            let observed = counts.share.map(Fraction.percent) ?? "no attempts"
            let parts = condition.warnAbove.map { [(counts.share ?? 0) / $0.double, Double(counts.bad) / Double(condition.warnMinBad)] }
            return RuleStatus(isSet: isSet, parts: parts ?? [0], text: "learning; \(observed) in the last \(condition.window)")
        }
        let now = current(at: minute)
        let expected = now.expected ?? 0
        let bad = Double(now.window.counts.bad)
        let ratio = expected > 0 ? bad / expected : 0
        let parts = [ratio / condition.above.double, bad / Double(condition.minBad)]
        let text =
            "\(Fraction.rounded(ratio))× of the \(Fraction.rounded(expected)) expected in the last "
            + "\(RuleDuration(minutes: now.window.minutes)); fires above \(condition.above.multiple)"
        return RuleStatus(isSet: isSet, parts: parts, text: text)
    }
}
