/// Where a match stands, as shown to followers (`UnifiedDisplayState.phase`).
package enum MatchPhase: String, Sendable, Hashable, Codable, CaseIterable {
    case scheduled
    case live
    /// A planned pause: drinks, lunch, tea, between innings, stumps.
    case `break`
    /// An unplanned pause: rain, bad light.
    case interrupted
    case ended
    /// Over without a result, or never started.
    case abandoned

    /// Nothing comes after it.
    package var isFinal: Bool { self == .ended || self == .abandoned }
}
