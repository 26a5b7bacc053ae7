import HTTPServer
import ServiceKit

/// The answer to a follow: with the state to show at once, if the match is known.
struct FollowDocument: Encodable, Sendable {
    var matchId: String
    var following = true
    var phase: String?
    /// `UnifiedDisplayState`.
    var displayState: JSONValue?

    init(matchId: String, _ followState: FollowStore.FollowState?) {
        self.matchId = matchId
        phase = followState?.phase
        displayState = followState.flatMap { try? JSONParser.parse(Array($0.displayState.utf8)) }
    }
}

/// The matches a user follows.
struct FollowList: Encodable, Sendable {
    var matches: [String]
}
