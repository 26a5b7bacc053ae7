package import Cricket

/// What became of a state that a feed sent.
package struct MatchReceipt: Sendable, Hashable {
    package enum Result: String, Sendable, Hashable, CaseIterable {
        /// A new display state was stored.
        case accepted
        /// Newer, and nothing a follower sees has changed.
        case unchanged
        /// Not newer than what is known; ignored.
        case stale
        /// From another source than the one in use, and of lower priority or not as far; ignored. Never of a pushed state.
        case ignored
    }

    package var result: Result
    package var matchId: String
    /// Of the display state that is in force now.
    package var seq: Int64
    package var phase: MatchPhase
    /// What was reported, in the order it was found; empty unless accepted.
    package var events: [MatchEventType]
    /// The source said that this is the state, new or not.
    package var isConfirmed = false
}

/// A feed went on with a match that is over. Nothing was stored.
struct MatchIsOver: Error, Sendable, CustomStringConvertible {
    let matchId: String
    var description: String { "the match \(matchId) has ended; only its final state may still be corrected" }
}
