/// `absence/1` over one group.
struct AbsenceDecision: Decision {
    let condition: AbsenceCondition
    let series: MinuteSeries

    func decides(at minute: Minute) -> Bool { true }

    func onset(at minute: Minute) -> Onset? {
        let length = condition.duration.minutes
        let window = series.evidence(endingAt: minute, minutes: length)
        let newer = series.window(endingAt: minute, minutes: length / 2)
        guard window.counts.attempts == window.counts.bad, window.counts.bad >= condition.minAttempts,
            newer.bad > 0, newer.bad < window.counts.bad
        else { return nil }
        return Onset(level: .absence, window: window)
    }

    /// The first failure after the last success, as far back as the history goes.
    func start(of onset: Onset, at minute: Minute) -> Minute {
        var first = onset.window.first
        while first > series.first, isWithoutSuccess(first - 1) { first = first - 1 }
        while first < minute, series[first].bad == 0 { first = first + 1 }
        return first
    }

    private func isWithoutSuccess(_ minute: Minute) -> Bool { series[minute].attempts == series[minute].bad }

    /// Enough successes since the condition last held, over a time that is long enough.
    func recovery(of episode: OpenEpisode, at minute: Minute) -> Onset? {
        let since = minute - episode.lastSet
        guard since >= condition.resolveAfter.minutes else { return nil }
        let window = series.evidence(endingAt: minute, minutes: min(since, condition.resolveWithin.minutes))
        guard window.counts.attempts - window.counts.bad >= condition.minSuccesses else { return nil }
        return Onset(level: .absence, window: window)
    }

    func exposure(of episode: OpenEpisode, at minute: Minute) -> Onset? { nil }

    func distance(at minute: Minute) -> Distance {
        let length = condition.duration.minutes
        let window = series.window(endingAt: minute, minutes: length)
        var silent = 0
        while silent < length, series[minute - silent].attempts == series[minute - silent].bad { silent += 1 }
        let text = "\(window.attempts - window.bad) of \(window.attempts) attempts succeeded in the last \(condition.duration)"
        let parts = [Double(silent) / Double(length), Double(window.bad) / Double(condition.minAttempts)]
        return Distance(isSet: onset(at: minute) != nil, parts: parts, text: text)
    }
}
