import PushContract

/// The event that a state shows.
enum KeyEvent {
    /// How long an event stays on the card if none of higher priority follows.
    static let keepDuration: Duration = .seconds(60)

    /// The new event of highest priority; the previous one stays while only minor events follow, until it is stale or old.
    ///
    /// `score_change` has the lowest priority and is never shown: a state without a key event stands for it.
    static func choose(
        from fresh: [MatchEvent],
        current: MatchEvent?,
        in score: MatchScore,
        window: BallWindow,
        now: Timestamp
    ) -> MatchEvent? {
        let kept = current.flatMap { $0.isStale(in: score, window: window, now: now) || now - $0.at > keepDuration ? nil : $0 }
        let candidates = fresh.filter { $0.type != .scoreChange && !$0.isStale(in: score, window: window, now: now) }
        guard let best = best(candidates) else { return kept }
        guard let kept, best.type.urgency == .quiet, kept.type.priority < best.type.priority else { return best }
        return kept
    }

    /// By priority; among equals the latest.
    private static func best(_ events: [MatchEvent]) -> MatchEvent? {
        events.reduce(nil) { best, event in
            guard let best, best.type.priority < event.type.priority else { return event }
            return best
        }
    }
}
