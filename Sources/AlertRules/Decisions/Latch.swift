/// Folds minutes into a latch: firing as long as the last set is newer than the last reset.
///
/// The fold looks at nothing but the state and the data, so a restart at any minute changes nothing.
struct Latch {
    let rule: AlertRule
    let group: GroupKey
    let decision: any Decision

    func fold(_ state: LatchState, from first: Minute, through last: Minute) -> Fold {
        var fold = Fold(state: state, transitions: [])
        var minute = first
        while minute <= last {
            if decision.decides(at: minute) { step(&fold, at: minute) }
            minute = minute + 1
        }
        fold.state.asOf = max(last, state.asOf ?? last)
        return fold
    }

    private func step(_ fold: inout Fold, at minute: Minute) {
        if let episode = fold.state.open, let now = decision.acceptance(of: episode, at: minute) {
            resolve(&fold, episode, reason: .accepted, window: now, endsAt: minute + 1, at: minute)
        }
        guard let onset = decision.onset(at: minute) else {
            return hold(&fold, at: minute)
        }
        guard var episode = fold.state.open else {
            return fire(&fold, onset, at: minute)
        }
        if episode.evidence.level == .learning, onset.level == .reference {
            resolve(&fold, episode, reason: .learned, window: onset, endsAt: minute + 1, at: minute)
            return fire(&fold, onset, at: minute)
        }
        episode.lastSet = minute
        episode.evidence.held = onset.held.isEmpty ? nil : onset.held
        fold.state.open = episode
        noteWorst(&fold, at: minute)
    }

    /// The condition does not hold: the episode ends if that is proven, and is held otherwise.
    private func hold(_ fold: inout Fold, at minute: Minute) {
        guard let episode = fold.state.open else { return }
        guard let good = decision.recovery(of: episode, at: minute) else {
            return noteWorst(&fold, at: minute)
        }
        let endsAt = max(good.window.first, episode.lastSet + 1)
        resolve(&fold, episode, reason: .recovered, window: good, endsAt: endsAt, at: minute)
    }

    private func fire(_ fold: inout Fold, _ onset: Onset, at minute: Minute) {
        let evidence = Evidence(
            definition: rule.condition.definition,
            level: onset.level,
            threshold: threshold(at: onset.level),
            observed: onset.window,
            worst: onset.window,
            expected: onset.expected,
            worstExpected: onset.expected,
            held: onset.held.isEmpty ? nil : onset.held
        )
        let episode = OpenEpisode(
            startsAt: decision.start(of: onset, at: minute),
            firedAt: minute + 1,
            lastSet: minute,
            evidence: evidence,
            frozenShares: onset.level == .learning ? [] : decision.sharesToFreeze(at: minute)
        )
        fold.state.open = episode
        fold.transitions.append(transition(.fired, .conditionMet, episode, evidence, endsAt: nil, at: minute))
    }

    private func resolve(
        _ fold: inout Fold,
        _ episode: OpenEpisode,
        reason: Transition.Reason,
        window: Onset,
        endsAt: Minute,
        at minute: Minute
    ) {
        var evidence = episode.evidence
        evidence.observed = window.window
        evidence.held = nil
        evidence.expected = [.reference, .returning].contains(evidence.level) ? window.expected : nil
        fold.state.open = nil
        fold.transitions.append(transition(.resolved, reason, episode, evidence, endsAt: endsAt, at: minute))
    }

    private func noteWorst(_ fold: inout Fold, at minute: Minute) {
        guard var episode = fold.state.open, let now = decision.exposure(of: episode, at: minute),
            now.isWorse(than: episode.evidence)
        else { return }
        episode.evidence.worst = now.window
        episode.evidence.worstExpected = now.expected
        fold.state.open = episode
    }

    /// A learning baseline is compared with a fixed share.
    private func threshold(at level: Evidence.Level) -> Fraction {
        if level == .learning, case .baseline(let baseline) = rule.condition, let share = baseline.warnAbove { return share }
        return rule.condition.threshold
    }

    private func transition(
        _ kind: Transition.Kind,
        _ reason: Transition.Reason,
        _ episode: OpenEpisode,
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
            severity: evidence.level == .learning && rule.severity.pages ? .ticket : rule.severity,
            minute: minute,
            startsAt: episode.startsAt,
            firedAt: episode.firedAt,
            lastSet: episode.lastSet,
            endsAt: endsAt,
            evidence: evidence
        )
    }
}
