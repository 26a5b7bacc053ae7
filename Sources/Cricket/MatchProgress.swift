package import PushContract

/// One step of a match: the meaning of a new state, given the memory of the match. Pure; the caller stores the result.
package enum MatchProgress {
    package enum Step: Sendable {
        /// Older than what is known, or the same state again: nothing changes.
        case stale
        /// Newer, and nothing a follower sees has changed.
        case unchanged(MatchMemory)
        case changed(MatchChange)
        /// The match is over; only its final state may still be corrected.
        case afterTheEnd
    }

    package static func step(
        _ memory: MatchMemory,
        with arrived: MatchScore,
        _ order: SourceOrder = .same,
        thresholds: EventThresholds = EventThresholds(),
        now: Timestamp
    ) -> Step {
        let before = memory.score
        if let before {
            guard arrived.supersedes(before, order) else { return .stale }
            if before.phase.isFinal, !arrived.phase.isFinal { return .afterTheEnd }
        }
        var memory = memory
        // Another source may spell names otherwise, so wickets in a row are not counted from one to the other.
        if order != .same { memory.window = BallWindow() }
        let window = memory.window
        let balls = memory.window.take(arrived.balls ?? [], isFirst: before == nil || order != .same)
        var score = arrived
        score.balls = nil
        memory.score = score
        if let before, balls.fresh.isEmpty, score.hasSameContent(as: before) { return .unchanged(memory) }
        memory.cooldowns.forget(retractedBy: score, from: before, now: now)
        if before == nil {
            // History, not news: not even when a later state is incomplete, and the next one has it again.
            var blank = score
            blank.innings = []
            _ = memory.cooldowns.admit(ScoreEvents.between(blank, and: score, thresholds: thresholds, now: now), now: now)
        }
        let detected =
            ScoreEvents.between(before, and: score, thresholds: thresholds, now: now)
            + BallEvents.of(
                balls.fresh,
                in: memory.window,
                after: window,
                ballsPerOver: score.ballsInOver,
                thresholds: thresholds,
                now: now
            )
        let admitted = memory.cooldowns.admit(order == .same ? detected : detected.filter(\.type.isOfTeams), now: now)
            .map { $0.type == .wicket ? ScoreEvents.withText($0, from: before, to: score) : $0 }
        let key = KeyEvent.choose(from: admitted, current: memory.key, in: score, window: memory.window, now: now)
        let isNew = key.map(admitted.contains) ?? false
        memory.key = key
        return build(memory, score, hasBalls: arrived.balls != nil, events: admitted, newKeyEvent: isNew ? key : nil, now: now)
    }

    private static func build(
        _ memory: MatchMemory,
        _ score: MatchScore,
        hasBalls: Bool,
        events: [MatchEvent],
        newKeyEvent: MatchEvent?,
        now: Timestamp
    ) -> Step {
        var memory = memory
        var display = DisplayStateBuilder(score: score, window: memory.window, key: memory.key, tier: hasBalls ? 1 : 0).state()
        let hash = display.contentHash
        guard hash != memory.stateHash else { return .unchanged(memory) }
        memory.seq += 1
        memory.stateTimestamp = max(now.seconds, memory.stateTimestamp + 1)
        memory.stateHash = hash
        display.seq = memory.seq
        display.updatedAt = memory.stateTimestamp
        return .changed(MatchChange(memory: memory, score: score, display: display, events: events, newKeyEvent: newKeyEvent))
    }
}
