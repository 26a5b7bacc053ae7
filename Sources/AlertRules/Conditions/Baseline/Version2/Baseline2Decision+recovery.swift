extension Baseline2Decision {
    var reopenWithin: Int { Baseline2.reopenMinutes }

    /// An end without proof is undone by a rise that resembles the fault; a proven end is not, nor the end of a ticket by a page.
    func reopens(_ closed: ClosedAlert, with onset: EvaluatedWindow, at minute: Minute) -> Bool {
        guard !closed.isProven, minute - closed.at < reopenWithin, onset.level.hasExpectation, onset.level != .newNormal,
            !onset.level.replaces(closed.alert.evidence.level)
        else { return false }
        return (onset.window.counts.share ?? 0) <= 2 * (closed.alert.evidence.observed.counts.share ?? 0)
    }

    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        switch alert.evidence.level {
        case .learning: return learningRecovery(ready(at: minute), at: minute)
        case .newNormal: return minute - alert.lastSet < 1440 ? nil : EvaluatedWindow(level: .newNormal, window: alert.evidence.observed)
        default: break
        }
        let fault = alert.evidence.observed.counts.share ?? 0
        for (length, _) in Baseline2.rungs {
            let first = minute - (length - 1)
            if length > Baseline2.rungs[0].minutes, first <= alert.lastSet { return nil }
            var now = exposure(length, of: alert, at: minute)
            let (counts, expected) = (now.window.counts, now.expected ?? 0)
            if counts.attempts < Baseline2.recoveryAttempts { continue }
            if Double(counts.bad) > max(Baseline2.recoveredMultiple * expected, 1) * Baseline2.rounding { return nil }
            let mean = max(Double(counts.attempts) * fault, condition.above.double * expected)
            now.isProof = PoissonTail.probability(atMost: counts.bad, mean: mean) <= Baseline2.recoveryChance
            if now.isProof || first > alert.lastSet { return now }
        }
        return nil
    }

    /// A window by the shares that were frozen when the alert fired.
    private func exposure(_ minutes: Int, of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow {
        let frozen = alert.frozenShares.byStratum
        var counts = AttemptCounts()
        var expected = 0.0
        for stratum in history.strata {
            guard let share = frozen[stratum.key] else { continue }
            let own = stratum.series.window(endingAt: minute, minutes: minutes)
            counts = counts + own
            expected += Double(own.attempts) * share
        }
        let window = WindowCounts(first: minute - (minutes - 1), minutes: minutes, counts: counts)
        return EvaluatedWindow(level: alert.evidence.level, window: window, expected: expected)
    }

    /// The worst of the windows, none of which begins before the end of an earlier alert.
    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        switch alert.evidence.level {
        case .learning: return learningWindow(ready(at: minute), at: minute).flatMap { $0.window.counts.bad >= condition.minBad ? $0 : nil }
        case .newNormal: return nil
        default: break
        }
        let reach = memory.consumed.map { minute - $0 } ?? .max
        func ratio(_ now: EvaluatedWindow) -> Double { Double(now.window.counts.bad) / max(now.expected ?? 0, 1e-12) }
        return Baseline2.rungs.map { exposure(min($0.minutes, reach), of: alert, at: minute) }
            .filter { $0.window.counts.bad >= condition.minBad }.max { ratio($0) < ratio($1) }
    }

    func acceptance(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        guard history.accepts(alert, at: minute) else { return nil }
        // The rest of the minute is decided as without an alert.
        if alert.covers { memory.end(at: minute) }
        open = nil
        return alert.frozenShares.isEmpty
            ? EvaluatedWindow(level: alert.evidence.level, window: history.total.evidence(endingAt: minute, minutes: 60))
            : exposure(Baseline2.rungs[0].minutes, of: alert, at: minute)
    }
}
