package import PushContract

/// A new display state and its cause.
package struct MatchChange: Sendable {
    package let memory: MatchMemory
    package let score: MatchScore
    package let display: UnifiedDisplayState
    /// All new events that were not in cooldown.
    package let events: [MatchEvent]
    /// The new event of this state; nil if the card still shows the previous one, or none.
    package let newKeyEvent: MatchEvent?

    /// The bytes that every follower receives.
    package var bytes: [UInt8] { display.canonicalJSON }
}
