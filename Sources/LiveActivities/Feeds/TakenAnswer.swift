import Cricket

/// What became of the states in a feed's answer.
struct TakenAnswer: Sendable {
    /// Something new was stored.
    var hasChanged = false
    /// States that were ignored because a better source was used: that one may fall silent while this answer stays the same.
    var ignored: [MatchScore] = []
    /// The matches of which the feed confirmed the state. A 304 confirms them again, and no other: it says nothing of what it left out.
    var confirmed: Set<String> = []
    /// Every match in it is over.
    var isOver = false
    /// No match in it was unusable or could not be stored.
    var isComplete = true

    var outcome: FeedPollInterval.Outcome { isOver ? .over : hasChanged ? .changed : .same }
}
