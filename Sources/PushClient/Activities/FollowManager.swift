/// The matches the user follows, as the app shows them at once: kept on the device, confirmed through the queue. A value.
public struct FollowManager: Codable, Sendable, Hashable {
    /// The followed matches.
    public private(set) var matchIds: Set<String> = []

    /// Nobody followed anything.
    public init() {}

    /// The user taps the bell. What to queue; nil when nothing changes.
    public mutating func follow(_ matchId: String) -> OperationKind? {
        matchIds.insert(matchId).inserted ? .follow(matchId: matchId) : nil
    }

    /// The user taps it again.
    public mutating func unfollow(_ matchId: String) -> OperationKind? {
        matchIds.remove(matchId) == nil ? nil : .unfollow(matchId: matchId)
    }

    /// A dismissal has told the server already.
    public mutating func dismissed(_ matchId: String) { matchIds.remove(matchId) }

    /// Sign-out.
    public mutating func clear() { matchIds = [] }
}
