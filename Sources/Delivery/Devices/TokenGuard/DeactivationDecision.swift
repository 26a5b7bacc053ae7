import PushContract

/// When so many tokens are refused that it is not the tokens.
package enum DeactivationDecision {
    /// What opens the limiter.
    package struct Limits: Sendable, Hashable {
        /// Of the outcomes that judged a token, how many may be refusals that the configuration may be at fault for.
        package var ambiguousShare: Double
        /// The same for all refusals. Higher: a provider that says "gone" knows, and a campaign to people who have been away long finds
        /// many such tokens.
        package var refusedShare: Double
        /// Below so many refusals nothing opens.
        package var count: Int64
        /// How far back outcomes count.
        package var window: Duration

        package init(ambiguousShare: Double = 0.05, refusedShare: Double = 0.25, count: Int64 = 20, window: Duration = .seconds(900)) {
            self.ambiguousShare = ambiguousShare
            self.refusedShare = refusedShare
            self.count = count
            self.window = window
        }
    }

    /// Outcomes of the window.
    package struct Counts: Sendable, Hashable {
        package var total: Int64
        package var ambiguous: Int64
        package var gone: Int64

        package init(total: Int64, ambiguous: Int64, gone: Int64) {
            self.total = total
            self.ambiguous = ambiguous
            self.gone = gone
        }
    }

    /// Whether nothing more of the place is to be deactivated until somebody has looked.
    package static func opens(_ counts: Counts, limits: Limits) -> Bool {
        exceeds(counts.ambiguous, limits.ambiguousShare, counts, limits)
            || exceeds(counts.ambiguous + counts.gone, limits.refusedShare, counts, limits)
    }

    private static func exceeds(_ refused: Int64, _ share: Double, _ counts: Counts, _ limits: Limits) -> Bool {
        refused >= limits.count && Double(refused) > share * Double(counts.total)
    }
}
