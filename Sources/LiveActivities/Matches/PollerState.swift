import Cricket

/// What the feed of a match does (seed 003: `activeMatches.pollerState`).
enum PollerState: String, Sendable, Hashable, CaseIterable {
    /// It is heard from.
    case polling
    /// It has been silent for long, or nothing is known yet.
    case paused
    /// The match is over.
    case ended

    static func of(_ score: MatchScore) -> PollerState { score.phase.isFinal ? .ended : .polling }
}

/// Where a state came from.
package struct MatchSource: Sendable, Hashable {
    /// The polled URL without its query, which may hold a secret; nil for what was pushed.
    package var url: String?

    package static let pushed = MatchSource(url: nil)
}
