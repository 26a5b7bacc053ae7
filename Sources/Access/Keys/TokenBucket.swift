import PushContract

/// A quota that refills steadily: up to a minute's worth at once, and never more than `perMinute` a minute in the long run.
struct TokenBucket: Sendable, Equatable {
    let perMinute: Int
    private var tokens: Double
    private var updated: Timestamp

    init(perMinute: Int, now: Timestamp) {
        self.perMinute = perMinute
        tokens = Double(perMinute)
        updated = now
    }

    /// Takes one; nil when there was one, else how long until there is.
    mutating func take(now: Timestamp) -> Duration? {
        let perSecond = Double(perMinute) / 60
        let elapsed = max(0, (now - updated).inSeconds)
        tokens = min(Double(perMinute), tokens + elapsed * perSecond)
        updated = now
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return .seconds((1 - tokens) / perSecond)
    }
}
