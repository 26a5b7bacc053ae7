/// `ratio/2`: fires as `ratio/1` does where the newest minutes are bad too, and resolves on evidence (docs/alert-semantics.md).
struct Ratio2Test: RatioTest {
    /// If one minute holds more than this part of the bad attempts, the others must prove the incident alone.
    static let concentration = Fraction(1, 3)
    /// Nats at which a recent run contradicts the window: by chance at most once in 20 times.
    static let recentEvidence = 3.0
    /// A run that is too bad for this part of the threshold is no recovery.
    static let healthy = 0.2
    /// The part of the proven share that a recovery must exclude …
    static let part = 0.7
    /// … and the least that it must exclude, as a multiple of the threshold.
    static let exclude = 1.25
    /// Nats by which the excluded share must be contradicted: by chance once in 8,103 times.
    static let resolveEvidence = 9.0
    /// The part of the good run's minutes with attempts that may be above the threshold by themselves.
    static let calm = Fraction(1, 10)

    private let minutes: RatioMinutes
    private let threshold: Double
    private var condition: RatioCondition { minutes.condition }
    private var series: MinuteSeries { minutes.series }

    init(_ minutes: RatioMinutes) {
        self.minutes = minutes
        threshold = minutes.condition.above.double
    }

    func onset(at minute: Minute) -> WindowCounts? {
        let length = minutes.length
        guard isBad(minute), minutes.verdicts[minute] == .breach, hasOnset(at: minute), minutes.hasQuorum(at: minute) else { return nil }
        let window = series.evidence(endingAt: minute, minutes: length)
        guard window.counts.attempts >= condition.minAttempts, window.counts.bad >= condition.minBad, minutes.isProven(window.counts),
            isSpread(window)
        else { return nil }
        return isContradicted(window.counts, at: minute) ? nil : window
    }

    private func isBad(_ minute: Minute) -> Bool { series[minute].isAbove(condition.above) }

    /// A minute breaches where the window begins, or at most a smooth window earlier: noise must not hide the beginning.
    private func hasOnset(at minute: Minute) -> Bool {
        let oldest = minute - (minutes.length - 1)
        return (0..<condition.smooth.minutes).contains { minutes.verdicts[oldest - $0] == .breach }
    }

    /// One minute must not carry the window.
    private func isSpread(_ window: WindowCounts) -> Bool {
        var worst = AttemptCounts()
        for offset in 0..<window.minutes {
            let counts = series[window.last - offset]
            if counts.bad > worst.bad { worst = counts }
        }
        let (all, concentration) = (window.counts, Self.concentration)
        guard worst.bad * concentration.denominator > all.bad * concentration.numerator else { return true }
        let rest = AttemptCounts(attempts: all.attempts - worst.attempts, bad: all.bad - worst.bad)
        return 2 * rest.bad >= condition.minBad && minutes.isProven(rest)
    }

    /// A recent run is better than the window lets expect, and not bad by itself: the incident is over.
    private func isContradicted(_ window: AttemptCounts, at minute: Minute) -> Bool {
        let expected = Self.part * proven(window)
        let healthy = Self.healthy * threshold
        return (1...condition.smooth.minutes).contains { length in
            let run = series.window(endingAt: minute, minutes: length)
            guard let share = run.share, share < expected, run.evidence(against: expected) >= Self.recentEvidence else { return false }
            return share <= healthy || run.evidence(against: healthy) < Self.recentEvidence
        }
    }

    /// The share that the window's counts prove; zero without counts.
    private func proven(_ counts: AttemptCounts) -> Double { (condition.guardConfidence ?? .percent99).lowerBound(counts) }

    /// The shortest run after the newest minute at which the condition was met that excludes what the incident has proven.
    func recovery(of alert: FiringAlert, at minute: Minute) -> WindowCounts? {
        guard series[minute].attempts > 0, !isBad(minute), minutes.verdicts[minute] != .breach else { return nil }
        let step = max(1, condition.resolveAfter.minutes / 2)
        let longest = min(condition.resolveWithin.minutes, minute - alert.lastSet)
        var calm = CalmCount(minutes: 0, evaluable: 0, bad: 0)
        for length in stride(from: condition.resolveAfter.minutes, through: longest, by: step) {
            calm.extend(to: length, endingAt: minute, series, condition.above)
            guard areHalvesGood(at: minute, length) else { continue }
            guard Int64(calm.bad) * Self.calm.denominator <= Int64(calm.evaluable) * Self.calm.numerator else { continue }
            let run = series.evidence(endingAt: minute, minutes: length)
            if excludes(alert, run.counts) { return run }
        }
        return nil
    }

    func excludes(_ alert: FiringAlert, _ counts: AttemptCounts) -> Bool {
        let excluded = min(max(Self.exclude * threshold, Self.part * proven(alert.proven)), 0.999)
        guard let share = counts.share, share < excluded else { return false }
        return counts.evidence(against: excluded) >= Self.resolveEvidence
    }

    private func areHalvesGood(at minute: Minute, _ length: Int) -> Bool {
        let newer = series.window(endingAt: minute, minutes: length / 2)
        let older = series.window(endingAt: minute - length / 2, minutes: length - length / 2)
        return [newer, older].allSatisfy { $0.attempts >= condition.minAttemptsToClear && !$0.isAbove(condition.resolveAt) }
    }
}

/// Minutes with attempts, and minutes above the threshold, of a run that grows towards the past.
private struct CalmCount {
    var minutes: Int
    var evaluable: Int
    var bad: Int

    mutating func extend(to length: Int, endingAt last: Minute, _ series: MinuteSeries, _ above: Fraction) {
        while minutes < length {
            let counts = series[last - minutes]
            if counts.attempts > 0 { evaluable += 1 }
            if counts.isAbove(above) { bad += 1 }
            minutes += 1
        }
    }
}
