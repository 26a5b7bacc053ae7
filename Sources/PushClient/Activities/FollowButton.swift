/// The state of the follow button of a match.
public enum FollowButton: String, Codable, Sendable, Hashable, CaseIterable {
    /// An outline: tap to follow.
    case notFollowing
    /// Filled: followed; its activity runs, or starts when the match is live.
    case following
    /// Filled, with a warning: followed, and Live Activities are not allowed.
    case followingWithoutActivities
    /// A loading indicator: a follow or unfollow is in flight.
    case pending

    /// The button's state.
    ///
    /// - Parameters:
    ///   - isFollowed: what the user wants, as kept on the device.
    ///   - areActivitiesAllowed: the system's setting for Live Activities.
    ///   - isInFlight: A follow or unfollow of this match is in flight.
    public static func state(isFollowed: Bool, areActivitiesAllowed: Bool, isInFlight: Bool) -> FollowButton {
        if isInFlight { return .pending }
        guard isFollowed else { return .notFollowing }
        return areActivitiesAllowed ? .following : .followingWithoutActivities
    }
}
