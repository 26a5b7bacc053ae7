/// `baseline/2` over one group: observed against expected, with the uncertainty of the expectation, and with evidence in the newest
/// minutes.
///
/// Defined in docs/alert-semantics.md. It keeps state from one minute to the next, so it belongs to one fold.
final class Baseline2Decision: Decision {
    let condition: BaselineCondition
    let history: GroupHistory
    let references: Baseline2References
    /// As of the minute that is decided next.
    var memory = BaselineMemory()
    var open: FiringAlert?
    /// What set at the minute that is being decided.
    var newest: EvaluatedWindow?

    init(_ condition: BaselineCondition, history: GroupHistory) {
        self.condition = condition
        self.history = history
        references = Baseline2References(condition, history)
    }

    func begin(_ state: AlertState) {
        memory = state.baseline ?? BaselineMemory()
        open = state.open
        newest = nil
    }

    /// In addition to its own minutes, the one from which a level is accepted, so that the alert ends at once.
    func decides(at minute: Minute) -> Bool {
        (minute.index + 1) % Int64(Baseline2.slot) == 0 || history.acceptances.contains { $0.from == minute }
    }

    /// Nil while too little is known.
    func ready(at minute: Minute) -> Baseline2Reference? {
        let reference = references.reference(day: Baseline2References.day(at: minute), at: minute, memory)
        return reference?.isReady == true ? reference : nil
    }

    func onset(at minute: Minute) -> EvaluatedWindow? {
        newest = decided(at: minute)
        return newest
    }

    private func decided(at minute: Minute) -> EvaluatedWindow? {
        guard let reference = ready(at: minute) else {
            return open?.evidence.level ?? .learning == .learning ? learningOnset(nil, at: minute) : nil
        }
        let isSurge = isSurge(reference, at: minute)
        if var window = rise(reference, isSurge: isSurge, at: minute) {
            window.level = isSurge ? .unusualVolume : .reference
            return window
        }
        if let open { return open.evidence.level == .learning ? learningOnset(reference, at: minute) : nil }
        return learningOnset(reference, at: minute) ?? newNormal(reference, at: minute)
    }

    /// Far more attempts than on the training days: a launch, a campaign, a load test, a purge.
    func isSurge(_ reference: Baseline2Reference, at minute: Minute) -> Bool {
        func attempts(_ minutes: Int) -> Int64 { history.total.window(endingAt: minute, minutes: minutes).attempts }
        return attempts(60) > 3 * reference.busiestHour || 4 * attempts(15) > 3 * reference.busiestHour
            || attempts(1440) > 2 * reference.largestDay
    }

    /// The first window that meets all conditions. None reaches back over the end of an alert, nor, to make a page of a ticket, into the
    /// surge.
    private func rise(_ reference: Baseline2Reference, isSurge: Bool, at minute: Minute) -> EvaluatedWindow? {
        var from = memory.consumed
        if open?.evidence.level == .unusualVolume, !isSurge { from = [from, memory.surgeEnd].compactMap { $0 }.max() }
        let reach = from.map { minute - $0 } ?? .max
        guard history.total.window(endingAt: minute, minutes: min(reach, condition.lookback)).bad >= condition.minBad else { return nil }
        for (length, chance) in Baseline2.rungs {
            let minutes = min(length, reach)
            let (counts, expectation) = window(minutes, reference, at: minute)
            guard counts.bad >= condition.minBad, isAbove(counts.bad, expectation.expected),
                length == Baseline2.rungs[0].minutes
                    || [60, max(60, length / 4)].allSatisfy({ isBad(min($0, reach), reference, at: minute) }),
                expectation.tail(atLeast: Double(counts.bad), chance: chance) < condition.alpha.double,
                isSpread(minutes, reference, at: minute)
            else { continue }
            let window = WindowCounts(first: minute - (minutes - 1), minutes: minutes, counts: counts)
            return EvaluatedWindow(level: .reference, window: window, expected: expectation.expected)
        }
        return nil
    }

    /// The newest part of a longer window is above the multiple by itself.
    private func isBad(_ minutes: Int, _ reference: Baseline2Reference, at minute: Minute) -> Bool {
        let (counts, expectation) = window(minutes, reference, at: minute)
        return counts.bad >= Baseline2.newestBad && isAbove(counts.bad, expectation.expected)
    }

    /// One slot or two are not enough: without the worst ones the window is still above the multiple.
    private func isSpread(_ minutes: Int, _ reference: Baseline2Reference, at minute: Minute) -> Bool {
        var slots = stride(from: 0, to: minutes, by: Baseline2.slot).map { back in
            let (counts, expectation) = window(min(Baseline2.slot, minutes - back), reference, at: minute - back)
            return (bad: counts.bad, expected: expectation.expected)
        }
        for _ in 0..<Baseline2.burst where !slots.isEmpty {
            // The newest of equals.
            let worst = slots.indices.reduce(0) { slots[$1].bad > slots[$0].bad ? $1 : $0 }
            slots.remove(at: worst)
        }
        return isAbove(slots.reduce(0) { $0 + $1.bad }, slots.reduce(0) { $0 + $1.expected })
    }

    func isAbove(_ observed: Int64, _ expected: Double) -> Bool {
        Double(observed) > condition.above.double * expected * Baseline2.rounding
    }

    /// Attempts of the strata that something is known of, and what is expected of them.
    func window(_ minutes: Int, _ reference: Baseline2Reference, at minute: Minute) -> (counts: AttemptCounts, expectation: Expectation) {
        var counts = AttemptCounts()
        var cells = [Int64](repeating: 0, count: reference.cells.count)
        for (index, stratum) in history.strata.enumerated() {
            guard let cell = reference.cellOf[index] else { continue }
            let own = stratum.series.window(endingAt: minute, minutes: minutes)
            counts = counts + own
            cells[cell] += own.attempts
        }
        var expectation = Expectation()
        for (cell, attempts) in zip(reference.cells, cells) { expectation.add(attempts, cell) }
        return (counts, expectation)
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute {
        onset.level == .newNormal ? onset.window.first : BaselineStart.minute(of: onset, condition, history.total)
    }

    func sharesToFreeze(at minute: Minute) -> [FrozenShare] {
        guard let reference = ready(at: minute) else { return [] }
        return history.strata.indices.compactMap { index in
            reference.share(stratum: index).map { FrozenShare(stratum: history.strata[index].key, share: $0) }
        }
    }

    /// The healthy share of each stratum, that of the group where too little is known.
    func usualShares(at minute: Minute) -> [Double] {
        let reference = references.reference(day: Baseline2References.day(at: minute), at: minute, memory)
        return history.strata.indices.map { index in
            max(reference?.share(stratum: index) ?? reference?.whole.share ?? 0, condition.minShare.double)
        }
    }
}
