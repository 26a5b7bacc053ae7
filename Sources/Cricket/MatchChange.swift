package import PushContract

/// A new display state and what brought it.
package struct MatchChange: Sendable {
    package let memory: MatchMemory
    package let score: MatchScore
    package let display: UnifiedDisplayState
    /// Everything that happened and was not cooling down.
    package let events: [MatchEvent]
    /// The event this state brings news of; nil when the card only goes on telling the one before, or none.
    package let newKeyEvent: MatchEvent?

    /// The very bytes every follower gets.
    package var bytes: [UInt8] { display.canonicalJSON }
}
