/// The matches that the user follows, shown immediately: stored on the device, confirmed through the queue. A value.
public struct FollowManager: Codable, Sendable, Hashable {
    /// The followed matches.
    public private(set) var matchIds: Set<String> = []

    /// No match is followed.
    public init() {}

    /// The user follows a match. Returns what to queue; nil if nothing changes.
    public mutating func follow(_ matchId: String) -> OperationKind? {
        matchIds.insert(matchId).inserted ? .follow(matchId: matchId) : nil
    }

    /// The user stops following a match. Returns what to queue; nil if nothing changes.
    public mutating func unfollow(_ matchId: String) -> OperationKind? {
        matchIds.remove(matchId) == nil ? nil : .unfollow(matchId: matchId)
    }

    /// The dismissal was already reported to the server.
    public mutating func dismissed(_ matchId: String) { matchIds.remove(matchId) }

    /// Sign-out.
    public mutating func clear() { matchIds = [] }
}
