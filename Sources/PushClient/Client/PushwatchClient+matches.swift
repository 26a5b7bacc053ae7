/// Matches by their ids: the subjects of the built-in type, which the app may start by itself.
extension PushwatchClient {
    /// The user follows a match.
    ///
    /// - Parameter startsHere: The app is in the foreground and starts the activity itself if the match is live (`Activity.request`); the
    ///   server then sends no start to this device for ten minutes. Call it again to bring back an activity that is missing.
    public func follow(_ matchId: String, startsHere: Bool = false) async { await follow(.match(matchId), startsHere: startsHere) }

    /// The user stops following a match.
    public func unfollow(_ matchId: String) async { await unfollow(.match(matchId)) }

    /// The state of the follow button of a match.
    public func followButton(of matchId: String) async -> FollowButton { await followButton(of: .match(matchId)) }

    /// The matches the user follows.
    public var followedMatches: Set<String> { Set(followed.compactMap(\.matchId)) }
}
