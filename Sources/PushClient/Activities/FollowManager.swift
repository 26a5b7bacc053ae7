/// The matches that the user follows, shown immediately: stored on the device, confirmed through the queue, and compared with the server's
/// list. A value.
public struct FollowManager: Codable, Sendable, Hashable {
    /// The followed matches.
    public private(set) var matchIds: Set<String> = []
    /// Those that the server has, as far as it has said.
    private var confirmedIds: Set<String> = []

    /// No match is followed.
    public init() {}

    /// The user follows a match. Returns whether that is new.
    public mutating func follow(_ matchId: String) -> Bool { matchIds.insert(matchId).inserted }

    /// The user stops following a match, or dismissed its activity.
    public mutating func unfollow(_ matchId: String) { matchIds.remove(matchId) }

    /// The server confirmed an operation.
    public mutating func confirmed(_ kind: OperationKind) {
        switch kind {
        case .follow(let matchId, _):
            matchIds.insert(matchId)
            confirmedIds.insert(matchId)
        case .unfollow(let matchId):
            matchIds.remove(matchId)
            confirmedIds.remove(matchId)
        default: break
        }
    }

    /// The server refused an operation, or the user discarded it: what the server has is unchanged.
    public mutating func refused(_ kind: OperationKind) {
        guard let matchId = kind.followedMatch else { return }
        if confirmedIds.contains(matchId) { matchIds.insert(matchId) } else { matchIds.remove(matchId) }
    }

    /// Takes over the server's list, except for what the user changed and the server does not know yet.
    ///
    /// - Parameter operations: The user's unconfirmed operations, oldest first.
    public mutating func readBack(_ matches: [String], unconfirmed operations: [PendingOperation]) {
        matchIds = Set(matches)
        confirmedIds = matchIds
        for operation in operations where operation.state != .needsAttention {
            switch operation.kind {
            case .follow(let matchId, _): matchIds.insert(matchId)
            case .unfollow(let matchId): matchIds.remove(matchId)
            case .dismissal(.match(let matchId), _, .user): matchIds.remove(matchId)
            default: break
            }
        }
    }

    /// Sign-out.
    public mutating func clear() { self = FollowManager() }
}
