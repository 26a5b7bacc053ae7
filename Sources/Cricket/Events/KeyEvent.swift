package import PushContract

/// The one event a state is told with.
package enum KeyEvent {
    /// How long an event stays on the card when nothing better follows.
    static let keepDuration: Duration = .seconds(60)

    /// The best of the new events; the one told before stays while only small things follow, until it is stale or old.
    ///
    /// `score_change` is the floor: it is never shown, a state without a key event is one.
    package static func choose(
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
