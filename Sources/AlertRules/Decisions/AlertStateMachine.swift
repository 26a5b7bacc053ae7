/// Folds minutes into an alert state: firing as long as the last set is newer than the last reset.
///
/// The fold depends on nothing but the state and the data, so a restart at any minute changes nothing.
struct AlertStateMachine {
    let rule: AlertRule
    let group: GroupKey
    let decision: any Decision

    func fold(_ state: AlertState, from first: Minute, through last: Minute) -> Fold {
        var fold = Fold(state: state, transitions: [])
        var minute = first
        while minute <= last {
            if decision.decides(at: minute) {
                decision.begin(fold.state)
                step(&fold, at: minute)
                decision.settle(&fold.state, at: minute)
            }
            minute = minute + 1
        }
        fold.state.asOf = max(last, state.asOf ?? last)
        if let closed = fold.state.closed, last - closed.at >= decision.reopenWithin { fold.state.closed = nil }
        return fold
    }

    private func step(_ fold: inout Fold, at minute: Minute) {
        if let alert = fold.state.open, let now = decision.acceptance(of: alert, at: minute) {
            resolve(&fold, alert, reason: .accepted, window: now, endsAt: minute + 1, at: minute)
        }
        if let alert = fold.state.open, let normal = decision.relearned(alert, at: minute) {
            resolve(&fold, alert, reason: .relearned, window: normal, endsAt: minute + 1, at: minute)
            return fire(&fold, normal, at: minute)
        }
        guard let onset = decision.onset(at: minute) else {
            return resolveIfRecovered(&fold, at: minute)
        }
        guard var alert = fold.state.open else {
            if let closed = fold.state.closed, decision.reopens(closed, with: onset, at: minute) {
                return reopen(&fold, closed.alert, onset, at: minute)
            }
            return fire(&fold, onset, at: minute)
        }
        if onset.level.replaces(alert.evidence.level) {
            resolve(
                &fold,
                alert,
                reason: alert.evidence.level == .learning ? .learned : .replaced,
                window: onset,
                endsAt: minute + 1,
                at: minute
            )
            return fire(&fold, onset, at: minute)
        }
        alert.lastSet = minute
        alert.proven = onset.provenCounts
        alert.evidence.openCircuits = onset.openCircuits.isEmpty ? nil : onset.openCircuits
        fold.state.open = alert
        updateWorst(&fold, at: minute)
    }

    /// The condition is not met: the alert resolves if recovery is proven, and keeps firing otherwise.
    private func resolveIfRecovered(_ fold: inout Fold, at minute: Minute) {
        guard let alert = fold.state.open else { return }
        guard let good = decision.recovery(of: alert, at: minute) else {
            return updateWorst(&fold, at: minute)
        }
        let endsAt = max(good.window.first, alert.lastSet + 1)
        resolve(&fold, alert, reason: .recovered, window: good, endsAt: endsAt, at: minute)
        guard decision.reopenWithin > 0 else { return }
        fold.state.closed = ClosedAlert(alert, at: minute)
        fold.state.closed?.isProven = good.isProof
    }

    /// The same alert goes on with its beginning and its worst window.
    private func reopen(_ fold: inout Fold, _ closed: FiringAlert, _ onset: EvaluatedWindow, at minute: Minute) {
        var alert = closed
        alert.lastSet = minute
        alert.proven = onset.provenCounts
        // A page that is reopened under unusual volume remains a page.
        if !alert.evidence.level.replaces(onset.level) { alert.evidence.level = onset.level }
        alert.evidence.openCircuits = onset.openCircuits.isEmpty ? nil : onset.openCircuits
        if onset.isWorse(than: alert.evidence) {
            alert.evidence.worst = onset.window
            alert.evidence.worstExpected = onset.expected
        }
        fold.state.open = alert
        fold.state.closed = nil
        var evidence = alert.evidence
        evidence.observed = onset.window
        evidence.expected = onset.expected
        fold.transitions.append(transition(.reopened, .conditionMet, alert, evidence, endsAt: nil, at: minute))
    }

    private func fire(_ fold: inout Fold, _ onset: EvaluatedWindow, at minute: Minute) {
        let evidence = Evidence(
            definition: rule.condition.definition,
            level: onset.level,
            threshold: rule.condition.base.threshold(at: onset.level),
            observed: onset.window,
            worst: onset.window,
            expected: onset.expected,
            worstExpected: onset.expected,
            openCircuits: onset.openCircuits.isEmpty ? nil : onset.openCircuits
        )
        let alert = FiringAlert(
            startsAt: decision.start(of: onset, at: minute),
            firedAt: minute + 1,
            lastSet: minute,
            evidence: evidence,
            proven: onset.provenCounts,
            frozenShares: onset.level == .learning ? [] : decision.sharesToFreeze(at: minute)
        )
        fold.state.open = alert
        fold.state.closed = nil
        fold.transitions.append(transition(.fired, .conditionMet, alert, evidence, endsAt: nil, at: minute))
    }

    private func resolve(
        _ fold: inout Fold,
        _ alert: FiringAlert,
        reason: Transition.Reason,
        window: EvaluatedWindow,
        endsAt: Minute,
        at minute: Minute
    ) {
        var evidence = alert.evidence
        evidence.observed = window.window
        evidence.openCircuits = nil
        evidence.expected = evidence.level.hasExpectation ? window.expected : nil
        fold.state.open = nil
        fold.transitions.append(transition(.resolved, reason, alert, evidence, endsAt: endsAt, at: minute))
    }

    private func updateWorst(_ fold: inout Fold, at minute: Minute) {
        guard var alert = fold.state.open, let now = decision.exposure(of: alert, at: minute),
            now.isWorse(than: alert.evidence)
        else { return }
        alert.evidence.worst = now.window
        alert.evidence.worstExpected = now.expected
        fold.state.open = alert
    }

    private func transition(
        _ kind: Transition.Kind,
        _ reason: Transition.Reason,
        _ alert: FiringAlert,
        _ evidence: Evidence,
        endsAt: Minute?,
        at minute: Minute
    ) -> Transition {
        Transition(
            kind: kind,
            reason: reason,
            rule: rule.name,
            ruleVersion: rule.version,
            group: group,
            severity: rule.severity(at: evidence.level),
            minute: minute,
            startsAt: alert.startsAt,
            firedAt: alert.firedAt,
            lastSet: alert.lastSet,
            endsAt: endsAt,
            evidence: evidence
        )
    }
}
