/// What the bell beside a match shows.
public enum FollowButton: String, Codable, Sendable, Hashable, CaseIterable {
    /// An outline: tap to follow.
    case notFollowing
    /// Filled: followed; its activity runs, or will when the match is live.
    case following
    /// Filled, with a warning: followed, and Live Activities are not allowed.
    case followingWithoutActivities
    /// A loading indicator: a follow or unfollow is on its way.
    case pending

    /// The bell's state.
    ///
    /// - Parameters:
    ///   - isFollowed: what the user wants, as kept on the device.
    ///   - areActivitiesAllowed: the system's setting for Live Activities.
    ///   - isInFlight: a follow or unfollow of this match is being tried this moment.
    public static func state(isFollowed: Bool, areActivitiesAllowed: Bool, isInFlight: Bool) -> FollowButton {
        if isInFlight { return .pending }
        guard isFollowed else { return .notFollowing }
        return areActivitiesAllowed ? .following : .followingWithoutActivities
    }
}
