/// `first-sight/1` over one provider and code.
struct FirstSightDecision: Decision {
    let condition: FirstSightCondition
    let history: GroupHistory

    func decides(at minute: Minute) -> Bool { true }

    func onset(at minute: Minute) -> EvaluatedWindow? {
        let counts = history.total[minute]
        guard counts.attempts > 0, !condition.ignore.contains(history.group[.providerErrorCode] ?? ""),
            let known = history.knownSince, minute - known >= condition.learn.minutes
        else { return nil }
        // Codes are kept by day: those of the days before this one count, and those of this one up to now.
        let before = Minute.firstOf(day: minute.day) - condition.notSeenFor.minutes
        guard history.total.window(endingAt: minute - 1, minutes: minute - before).attempts == 0 else { return nil }
        return EvaluatedWindow(level: .firstSight, window: history.total.evidence(endingAt: minute, minutes: 1))
    }

    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute { minute }

    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? {
        guard minute - alert.lastSet >= condition.resolveAfter.minutes else { return nil }
        return EvaluatedWindow(
            level: .firstSight,
            window: history.total.evidence(endingAt: minute, minutes: condition.resolveAfter.minutes)
        )
    }

    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? { nil }
}
