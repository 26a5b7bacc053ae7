/// The state kept of a match between two states of its feed.
package struct MatchMemory: Sendable, Hashable {
    /// The last state, without its balls.
    package var score: MatchScore?
    package var window: BallWindow
    package var cooldowns: Cooldowns
    /// The event that the card shows now.
    package var key: MatchEvent?
    /// Number of the last display state; 0 before the first.
    package var seq: Int64
    /// `aps.timestamp` of the last display state.
    package var stateTimestamp: Int64
    package var stateHash: String?

    package init(
        score: MatchScore? = nil,
        window: BallWindow = BallWindow(),
        cooldowns: Cooldowns = Cooldowns(),
        key: MatchEvent? = nil,
        seq: Int64 = 0,
        stateTimestamp: Int64 = 0,
        stateHash: String? = nil
    ) {
        self.score = score
        self.window = window
        self.cooldowns = cooldowns
        self.key = key
        self.seq = seq
        self.stateTimestamp = stateTimestamp
        self.stateHash = stateHash
    }
}
