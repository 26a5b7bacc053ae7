/// `baseline/1` over one group: observed against expected for the present mix of traffic.
struct Baseline1Decision: Decision {
    let condition: BaselineCondition
    let history: GroupHistory
    let shares: Baseline1Shares

    /// Differences below this part are rounding, not observation: exactly 3.0 × is not above 3 ×.
    private static let rounding = 1e-9

    init(_ condition: BaselineCondition, history: GroupHistory) {
        self.condition = condition
        self.history = history
        shares = Baseline1Shares(condition, strata: history.strata, acceptances: history.acceptances)
    }

    /// In addition to its own minutes, the one from which a level is accepted, so that the alert ends at once.
    func decides(at minute: Minute) -> Bool {
        (minute.index + 1) % Int64(condition.every.minutes) == 0 || history.acceptances.contains { $0.from == minute }
    }

    /// The window is preceded by less than the whole reference.
    func isLearning(at minute: Minute) -> Bool {
        guard let since = history.knownSince else { return true }
        return (minute - (condition.window.minutes - 1) - condition.gap.minutes) - since < condition.reference.minutes
    }

    func onset(at minute: Minute) -> EvaluatedWindow? {
        if isLearning(at: minute) { return learningOnset(at: minute) }
        let now = current(at: minute)
        let expected = now.expected ?? 0
        let observed = now.window.counts.bad
        guard observed >= condition.minBad, isAbove(observed, multiple: condition.above, of: expected), isRecent(now, at: minute),
            PoissonTail.probability(atLeast: observed, mean: condition.overdispersion.double * expected) < condition.alpha.double
        else { return nil }
        return now
    }

    /// A longer window sets only while its newest part is above the multiple too: when traffic drops at night, one
    /// must not find an incident of the afternoon again.
    private func isRecent(_ onset: EvaluatedWindow, at minute: Minute) -> Bool {
        guard onset.window.minutes > condition.window.minutes else { return true }
        let newest = exposure(at: minute, minutes: condition.window.minutes, frozen: nil)
        return isAbove(newest.window.counts.bad, multiple: condition.above, of: newest.expected ?? 0)
    }

    /// Too little is known to expect anything: a fixed share, for a ticket.
    private func learningOnset(at minute: Minute) -> EvaluatedWindow? {
        guard let limit = condition.warnAbove else { return nil }
        let window = history.total.evidence(endingAt: minute, minutes: condition.window.minutes)
        guard window.counts.bad >= condition.warnMinBad, window.counts.isAbove(limit) else { return nil }
        // What was accepted is expected, however little else is known.
        if history.acceptances.contains(where: { $0.isInForce(at: minute) }) {
            let expected = exposure(at: minute, minutes: condition.window.minutes, frozen: nil).expected ?? 0
            guard isAbove(window.counts.bad, multiple: condition.above, of: expected) else { return nil }
        }
        return EvaluatedWindow(level: .learning, window: window)
    }

    /// The first of the windows in which enough is expected; the longest when none does.
    func current(at minute: Minute) -> EvaluatedWindow {
        evaluatedWindow(at: minute, enough: condition.minExpected.double, frozen: nil)
    }

    private func evaluatedWindow(at minute: Minute, enough: Double, frozen: [GroupKey: Double]?) -> EvaluatedWindow {
        let windows = condition.windows
        for length in windows.dropLast() {
            let candidate = exposure(at: minute, minutes: length.minutes, frozen: frozen)
            if (candidate.expected ?? 0) >= enough { return candidate }
        }
        return exposure(at: minute, minutes: windows[windows.count - 1].minutes, frozen: frozen)
    }

    /// Observed and expected in one window; a stratum that is not among the frozen ones is expected at its present share.
    private func exposure(at minute: Minute, minutes: Int, frozen: [GroupKey: Double]?) -> EvaluatedWindow {
        let present = shares.shares(from: minute - (minutes - 1), through: minute)
        var expected = 0.0
        for (stratum, share) in zip(history.strata, present) {
            let attempts = stratum.series.window(endingAt: minute, minutes: minutes).attempts
            if attempts > 0 { expected += Double(attempts) * (frozen?[stratum.key] ?? share) }
        }
        return EvaluatedWindow(level: .reference, window: history.total.evidence(endingAt: minute, minutes: minutes), expected: expected)
    }

    private func isAbove(_ observed: Int64, multiple: Fraction, of expected: Double) -> Bool {
        Double(observed) > multiple.double * expected * (1 + Self.rounding)
    }

    func sharesToFreeze(at minute: Minute) -> [FrozenShare] {
        let window = current(at: minute).window
        return zip(history.strata, shares.shares(from: window.first, through: window.last)).map { FrozenShare(stratum: $0.key, share: $1) }
    }

    func acceptance(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        guard history.accepts(alert, at: minute) else { return nil }
        var now = current(at: minute)
        now.level = alert.evidence.level
        return now
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute { BaselineStart.minute(of: onset, condition, history.total) }

    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        if alert.evidence.level == .learning { return learningRecovery(at: minute) }
        let fired = alert.evidence.observed
        let frozen = alert.frozenShares.byStratum
        for length in condition.windows where length.minutes >= fired.minutes {
            let now = exposure(at: minute, minutes: length.minutes, frozen: frozen)
            // A window longer than the one that fired must not be made good by what came before the alert.
            if length.minutes > fired.minutes, now.window.first <= alert.lastSet { return nil }
            if proves(now, share: fired.counts.share ?? 0) {
                return isAbove(now.window.counts.bad, multiple: condition.resolveAt, of: now.expected ?? 0) ? nil : now
            }
        }
        return nil
    }

    /// Enough is expected to distinguish good from bad. With next to nothing expected, a full longest window does so too, if the
    /// fault, had it gone on at the share that fired, would have shown in it.
    private func proves(_ now: EvaluatedWindow, share: Double) -> Bool {
        if (now.expected ?? 0) >= condition.resolveMinExpected.double { return true }
        return now.window.minutes == condition.longestWindow.minutes
            && Double(now.window.counts.attempts) * share >= Double(condition.minBad)
    }

    private func learningRecovery(at minute: Minute) -> EvaluatedWindow? {
        guard let limit = condition.warnAbove else { return nil }
        let window = history.total.evidence(endingAt: minute, minutes: condition.window.minutes)
        let wouldShow = Double(window.counts.attempts) * limit.double >= Double(condition.minBad)
        guard wouldShow, !window.counts.isAbove(limit * Fraction(4, 5)) else { return nil }
        return EvaluatedWindow(level: .learning, window: window)
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let learning = alert.evidence.level == .learning
        let window = history.total.evidence(endingAt: minute, minutes: condition.window.minutes)
        let now =
            learning
            ? EvaluatedWindow(level: .learning, window: window)
            : evaluatedWindow(at: minute, enough: condition.minExpected.double, frozen: alert.frozenShares.byStratum)
        return now.window.counts.bad >= condition.minBad ? now : nil
    }
}
