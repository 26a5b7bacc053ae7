import Cricket

/// What the feed of a match does (seed 003: `activeMatches.pollerState`).
enum PollerState: String, Sendable, Hashable, CaseIterable {
    /// Its source confirms states.
    case polling
    /// Its source has been silent for long, or nothing is known yet.
    case paused
    /// The match is over.
    case ended

    static func of(_ score: MatchScore) -> PollerState { score.phase.isFinal ? .ended : .polling }
}

/// Where a state came from.
package struct MatchSource: Sendable, Hashable {
    /// The polled URL without its query, which may hold a secret; nil for what was pushed.
    package var url: String?

    /// 1 takes precedence over 2. What is pushed is 0.
    package var priority: Int16

    package init(url: String, priority: Int16 = 1) {
        self.url = url
        self.priority = priority
    }

    private init() { priority = 0 }

    package static let pushed = MatchSource()

    /// As a match's row has it.
    init(url: String?, priority: Int16) {
        self.url = url
        self.priority = priority
    }
}
