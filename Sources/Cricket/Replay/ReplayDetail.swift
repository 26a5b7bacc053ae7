/// What a feed knows of a match.
package enum ReplayDetail: String, Sendable, Hashable, CaseIterable {
    /// Scores and cards only: Tier 0.
    case scores
    /// The last deliveries too: Tier 1.
    case balls
}
