/// `baseline/1` over one group: observed against expected for the present mix of traffic (§2.4).
struct BaselineDecision: Decision {
    let condition: BaselineCondition
    let history: GroupHistory
    private let shares: BaselineShares

    /// Differences below this part are rounding, not observation: exactly 3.0 × is not above 3 ×.
    private static let rounding = 1e-9

    init(_ condition: BaselineCondition, history: GroupHistory) {
        self.condition = condition
        self.history = history
        shares = BaselineShares(condition, strata: history.strata)
    }

    func decides(at minute: Minute) -> Bool {
        (minute.index + 1) % Int64(condition.every.minutes) == 0
    }

    /// Less than the whole reference lies before the window.
    func isLearning(at minute: Minute) -> Bool {
        guard let since = history.knownSince else { return true }
        return (minute - (condition.window.minutes - 1) - condition.gap.minutes) - since < condition.reference.minutes
    }

    func onset(at minute: Minute) -> Onset? {
        if isLearning(at: minute) { return learningOnset(at: minute) }
        let now = current(at: minute)
        let expected = now.expected ?? 0
        let observed = now.window.counts.bad
        guard observed >= condition.minBad, isAbove(observed, multiple: condition.above, of: expected),
            PoissonTail.probability(atLeast: observed, mean: condition.overdispersion.double * expected) < condition.alpha.double
        else { return nil }
        return now
    }

    /// Too little is known to expect anything: a fixed share, for a ticket.
    private func learningOnset(at minute: Minute) -> Onset? {
        guard let limit = condition.warnAbove else { return nil }
        let window = history.total.evidence(endingAt: minute, minutes: condition.window.minutes)
        guard window.counts.bad >= condition.warnMinBad, window.counts.isAbove(limit) else { return nil }
        return Onset(level: .learning, window: window)
    }

    /// The first window of the ladder in which enough is expected; the longest when none does.
    func current(at minute: Minute) -> Onset {
        ladder(at: minute, enough: condition.minExpected.double, frozen: nil)
    }

    private func ladder(at minute: Minute, enough: Double, frozen: [GroupKey: Double]?) -> Onset {
        let windows = condition.windows
        for length in windows.dropLast() {
            let candidate = exposure(at: minute, minutes: length.minutes, frozen: frozen)
            if (candidate.expected ?? 0) >= enough { return candidate }
        }
        return exposure(at: minute, minutes: windows[windows.count - 1].minutes, frozen: frozen)
    }

    /// Observed and expected in one window; a stratum that is not among the frozen ones is expected at its present share.
    private func exposure(at minute: Minute, minutes: Int, frozen: [GroupKey: Double]?) -> Onset {
        let present = shares.shares(forWindowFrom: minute - (minutes - 1))
        var expected = 0.0
        for (stratum, share) in zip(history.strata, present) {
            let attempts = stratum.series.window(endingAt: minute, minutes: minutes).attempts
            if attempts > 0 { expected += Double(attempts) * (frozen?[stratum.key] ?? share) }
        }
        return Onset(level: .reference, window: history.total.evidence(endingAt: minute, minutes: minutes), expected: expected)
    }

    private func isAbove(_ observed: Int64, multiple: Fraction, of expected: Double) -> Bool {
        Double(observed) > multiple.double * expected * (1 + Self.rounding)
    }

    func sharesToFreeze(at minute: Minute) -> [FrozenShare] {
        let window = current(at: minute).window
        return zip(history.strata, shares.shares(forWindowFrom: window.first)).map { FrozenShare(stratum: $0.key, share: $1) }
    }

    func recovery(of episode: OpenEpisode, at minute: Minute) -> Onset? {
        if episode.evidence.level == .learning { return learningRecovery(at: minute) }
        let now = ladder(at: minute, enough: condition.resolveMinExpected.double, frozen: frozen(episode))
        let expected = now.expected ?? 0
        guard !isAbove(now.window.counts.bad, multiple: condition.resolveAt, of: expected) else { return nil }
        // With next to nothing expected, a full longest window proves recovery if the fault, had it gone on, would have shown in it.
        let share = episode.evidence.observed.counts.share ?? 0
        let wouldShow = Double(now.window.counts.attempts) * share >= Double(condition.minBad)
        return expected >= condition.resolveMinExpected.double || wouldShow ? now : nil
    }

    private func learningRecovery(at minute: Minute) -> Onset? {
        guard let limit = condition.warnAbove else { return nil }
        let window = history.total.evidence(endingAt: minute, minutes: condition.window.minutes)
        let wouldShow = Double(window.counts.attempts) * limit.double >= Double(condition.minBad)
        guard wouldShow, !window.counts.isAbove(limit * Fraction(4, 5)) else { return nil }
        return Onset(level: .learning, window: window)
    }

    func exposure(of episode: OpenEpisode, at minute: Minute) -> Onset? {
        let learning = episode.evidence.level == .learning
        let window = history.total.evidence(endingAt: minute, minutes: condition.window.minutes)
        let now =
            learning
            ? Onset(level: .learning, window: window)
            : ladder(at: minute, enough: condition.minExpected.double, frozen: frozen(episode))
        return now.window.counts.bad >= condition.minBad ? now : nil
    }

    private func frozen(_ episode: OpenEpisode) -> [GroupKey: Double] {
        Dictionary(episode.frozenShares.map { ($0.stratum, $0.share) }, uniquingKeysWith: { first, _ in first })
    }
}
