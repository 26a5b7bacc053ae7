/// The phase of a match, as shown to followers (`UnifiedDisplayState.phase`).
package enum MatchPhase: String, Sendable, Hashable, Codable, CaseIterable {
    case scheduled
    case live
    /// A planned pause: drinks, lunch, tea, between innings.
    case `break`
    /// An unplanned pause: rain, bad light.
    case interrupted
    /// The day's play of a match over several days is over; it goes on another day.
    case stumps
    case ended
    /// Over without a result, or never started.
    case abandoned

    /// Nothing comes after it.
    package var isFinal: Bool { self == .ended || self == .abandoned }

    /// Followers have it on their lock screens: from its start to its end, but not overnight.
    package var isShown: Bool { self != .scheduled && self != .stumps && !isFinal }
}
