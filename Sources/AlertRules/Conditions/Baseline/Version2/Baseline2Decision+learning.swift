extension Baseline2Decision {
    /// The last hour without an expectation: of all attempts in the learning period, then of those of strata that are new.
    func learningWindow(_ reference: Baseline2Reference?, at minute: Minute) -> EvaluatedWindow? {
        let length = condition.window.minutes
        var counts = AttemptCounts()
        for (index, stratum) in history.strata.enumerated() where reference?.cellOf[index] == nil {
            counts = counts + stratum.series.window(endingAt: minute, minutes: length)
        }
        let window = WindowCounts(first: minute - (length - 1), minutes: length, counts: counts)
        return counts.attempts > 0 ? EvaluatedWindow(level: .learning, window: window) : nil
    }

    /// A fixed share, for a ticket. What was accepted is expected, however little else is known.
    func learningOnset(_ reference: Baseline2Reference?, at minute: Minute) -> EvaluatedWindow? {
        guard let limit = condition.warnAbove, let now = learningWindow(reference, at: minute),
            now.window.counts.bad >= condition.warnMinBad, now.window.counts.isAbove(limit)
        else { return nil }
        if let accepted = history.acceptances.last(where: { $0.isInForce(at: minute) }) {
            let shares = accepted.shares.byStratum
            let expected = history.strata.reduce(0.0) { sum, stratum in
                let attempts = stratum.series.window(endingAt: minute, minutes: now.window.minutes).attempts
                return sum + Double(attempts) * (shares[stratum.key] ?? 0)
            }
            guard isAbove(now.window.counts.bad, expected) else { return nil }
        }
        return now
    }

    func learningRecovery(_ reference: Baseline2Reference?, at minute: Minute) -> EvaluatedWindow? {
        guard let limit = condition.warnAbove, let now = learningWindow(reference, at: minute) else {
            // What was new has an expectation by now. Without attempts the alert keeps its state.
            let all = history.total.evidence(endingAt: minute, minutes: condition.window.minutes)
            return all.counts.attempts > 0 ? EvaluatedWindow(level: .learning, window: all) : nil
        }
        let wouldShow = Double(now.window.counts.attempts) * limit.double >= Double(condition.minBad)
        return wouldShow && !now.window.counts.isAbove(limit * Fraction(4, 5)) ? now : nil
    }
}
