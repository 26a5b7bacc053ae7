/// What is decided once a day, when a new reference comes into force.
extension Baseline2Decision {
    /// The first decision with the reference of a new day.
    private func isNewDay(_ minute: Minute) -> Bool {
        minute.index - Minute.firstOf(day: minute.day).index == Int64(Baseline2.delay + Baseline2.slot - 1)
    }

    /// The reference is twice as high as one of the last two weeks: a stable new level, of which somebody is notified.
    func newNormal(_ reference: Baseline2Reference, at minute: Minute) -> EvaluatedWindow? {
        let day = Baseline2References.day(at: minute)
        guard isNewDay(minute), reference.whole.bad >= Baseline2.newNormalBad,
            memory.announced.map({ minute - $0 >= Int(Baseline2.announceDays) * 1440 }) ?? true
        else { return nil }
        let shares = (day - Baseline2.announceDays + 1..<day).compactMap { day -> Double? in
            guard let earlier = references.reference(day: day, at: minute, memory), earlier.isReady,
                earlier.whole.bad >= Baseline2.newNormalBad
            else { return nil }
            return earlier.whole.share
        }
        guard let lowest = shares.min(), reference.whole.share > Baseline2.newNormal.double * lowest * Baseline2.rounding else {
            return nil
        }
        return newNormal(reference.days, reference.whole.bad, reference.whole.attempts, usual: lowest)
    }

    private func newNormal(_ days: ClosedRange<Int64>, _ bad: Double, _ attempts: Double, usual: Double) -> EvaluatedWindow {
        let first = Minute.firstOf(day: days.lowerBound)
        let counts = AttemptCounts(attempts: Int64(attempts), bad: Int64(bad.rounded()))
        let window = WindowCounts(first: first, minutes: days.count * 1440, counts: counts)
        return EvaluatedWindow(level: .newNormal, window: window, expected: usual * attempts)
    }

    /// An alert that is open for seven whole days at one level: the level is the new normal.
    func relearned(_ alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let last = Baseline2References.day(at: minute)
        let first = last - Baseline2.relearnDays + 1
        guard isNewDay(minute), alert.evidence.level == .reference || alert.evidence.level == .unusualVolume,
            let since = memory.openSince, since < Minute.firstOf(day: first)
        else { return nil }
        let days = (first...last).map(references.counts)
        let all = days.reduce(AttemptCounts(), +)
        guard let share = all.share else { return nil }
        let isStable = days.allSatisfy { day in
            let expected = Double(day.attempts) * share
            return day.attempts >= Baseline2.dayAttempts
                && abs(Double(day.bad) - expected) <= max(expected / 2, 3.3 * expected.squareRoot())
        }
        guard isStable else { return nil }
        let usual = (alert.evidence.expected ?? 0) / Double(max(1, alert.evidence.observed.counts.attempts))
        memory.readmit(from: first)
        memory.consumed = minute
        memory.announced = minute
        return newNormal(first...last, Double(all.bad), Double(all.attempts), usual: usual)
    }

    /// Records what later decisions need of the minute's decision.
    func settle(_ state: inout AlertState, at minute: Minute) {
        let before = open.flatMap { $0.covers ? $0 : nil }
        if var alert = state.open, alert.covers {
            let isSurge = alert.evidence.level == .unusualVolume
            if before?.firedAt != alert.firedAt {
                memory.openSince = minute
                let window = newest?.window ?? alert.evidence.observed
                memory.exclude(from: window.first, through: minute, isSurge: isSurge)
            }
            memory.exclude(from: minute - (Baseline2.slot - 1), through: minute, isSurge: isSurge)
            if isSurge, let reference = ready(at: minute) {
                if self.isSurge(reference, at: minute) { memory.surgeEnd = minute }
                raise(&alert, at: minute)
                state.open = alert
            }
        } else if before != nil {
            memory.end(at: minute)
        }
        if state.open?.evidence.level == .newNormal, open?.evidence.level != .newNormal { memory.announced = minute }
        state.baseline = memory == BaselineMemory() ? nil : memory
    }

    /// A ticket is compared with the higher of what was and what is usual.
    private func raise(_ alert: inout FiringAlert, at minute: Minute) {
        let present = sharesToFreeze(at: minute).byStratum
        for index in alert.frozenShares.indices {
            let now = present[alert.frozenShares[index].stratum] ?? 0
            alert.frozenShares[index].share = max(alert.frozenShares[index].share, now)
        }
    }
}

extension FiringAlert {
    /// Its hours are excluded from training; those of a fixed share and of a new normal are not.
    var covers: Bool { evidence.level == .reference || evidence.level == .unusualVolume }
}
