/// `reregistration/1` over one group: hourly cohorts of devices.
struct ReregistrationDecision: Decision {
    let condition: ReregistrationCondition
    let series: MinuteSeries

    /// Cohorts are known by the hour.
    func decides(at minute: Minute) -> Bool { (minute.index + 1) % 60 == 0 }

    func onset(at minute: Minute) -> EvaluatedWindow? {
        guard let usual = usualShare(before: minute - (condition.window.minutes - 1)) else { return nil }
        let window = series.evidence(endingAt: minute, minutes: condition.window.minutes)
        let returned = window.counts.attempts - window.counts.bad
        let expected = usual * Double(window.counts.attempts)
        guard window.counts.attempts >= condition.minDevices, Double(returned) < condition.below.double * expected * (1 - 1e-9),
            1 - PoissonTail.probability(atLeast: returned + 1, mean: expected) < condition.alpha.double
        else { return nil }
        return EvaluatedWindow(level: .reregistration, window: window, expected: expected)
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute { onset.window.first }

    func sharesToFreeze(at minute: Minute) -> [FrozenShare] {
        usualShare(before: minute - (condition.window.minutes - 1)).map { [FrozenShare(stratum: GroupKey(), share: $0)] } ?? []
    }

    /// Over the newest cohorts, against what was usual when it fired.
    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        guard let usual = alert.frozenShares.first?.share else { return nil }
        let window = series.evidence(endingAt: minute, minutes: condition.resolveAfter.minutes)
        let returned = window.counts.attempts - window.counts.bad
        let enough = max(10, condition.minDevices * Int64(condition.resolveAfter.minutes) / Int64(condition.window.minutes))
        let expected = usual * Double(window.counts.attempts)
        guard window.counts.attempts >= enough, Double(returned) >= condition.resolveAt.double * expected else { return nil }
        return EvaluatedWindow(level: .reregistration, window: window, expected: expected)
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        let window = series.evidence(endingAt: minute, minutes: condition.window.minutes)
        guard window.counts.attempts >= condition.minDevices, let usual = alert.frozenShares.first?.share else { return nil }
        return EvaluatedWindow(level: .reregistration, window: window, expected: usual * Double(window.counts.attempts))
    }

    /// The median of the daily shares before the window; nil while too few days have enough devices.
    private func usualShare(before first: Minute) -> Double? {
        let shares = (0..<condition.reference.minutes / 1440).compactMap { day -> Double? in
            let counts = series.window(endingAt: first - 1 - day * 1440, minutes: 1440)
            guard counts.attempts >= condition.minDevicesPerDay else { return nil }
            return Double(counts.attempts - counts.bad) / Double(counts.attempts)
        }
        return shares.count >= condition.minDays ? shares.median : nil
    }
}
