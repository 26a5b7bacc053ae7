import HTTPServer
import ServiceKit

/// The answer to a follow: with the state to show at once, if the match is known.
struct FollowDocument: Encodable, Sendable {
    var matchId: String
    var following = true
    var phase: String?
    /// `UnifiedDisplayState`.
    var displayState: JSONValue?
    /// On each device of the user.
    var starts: [StartStatus]

    init(matchId: String, _ followState: FollowStore.FollowState?, starts: [StartStatus]) {
        self.matchId = matchId
        self.starts = starts
        phase = followState?.phase
        displayState = followState.flatMap { try? JSONParser.parse(Array($0.displayState.utf8)) }
    }
}

/// The matches a user follows.
struct FollowList: Encodable, Sendable {
    var matches: [String]
    /// The state of each on each device of the user.
    var starts: [StartStatus]
}

/// What a user follows, with its state on one device.
struct DeviceActivityList: Encodable, Sendable {
    var starts: [StartStatus]
}
