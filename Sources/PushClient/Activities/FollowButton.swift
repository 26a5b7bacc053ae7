/// The state of the follow button of a match or another subject.
public enum FollowButton: String, Codable, Sendable, Hashable, CaseIterable {
    /// An outline: tap to follow.
    case notFollowing
    /// Filled: followed; its activity starts when the subject is live.
    case following
    /// Filled: followed, and its activity runs.
    case activityRunning
    /// Filled, with a warning: followed, and Live Activities are not allowed.
    case followingWithoutActivities
    /// A loading indicator: a follow or unfollow is in flight.
    case pending
    /// Filled, with a clock: the follow waits for the network.
    case followWaiting
    /// An outline, with a clock: the unfollow waits for the network; until then pushes continue.
    case unfollowWaiting
    /// An outline, with an error: the server refused the follow. A tap follows again.
    case followRefused
    /// Filled, with an error: the server refused the unfollow. A tap unfollows again.
    case unfollowRefused

    /// The last follow or unfollow of a subject that the server has not confirmed.
    public enum Unconfirmed: String, Codable, Sendable, Hashable {
        case inFlight
        case followWaiting
        case unfollowWaiting
        case followRefused
        case unfollowRefused
    }

    /// The button's state.
    ///
    /// - Parameters:
    ///   - isFollowed: What the user wants, as stored on the device.
    ///   - areActivitiesAllowed: The system's setting for Live Activities.
    ///   - isActivityRunning: An activity of the subject is on the screen.
    ///   - unconfirmed: What has not reached the server; nil if everything has.
    public static func state(
        isFollowed: Bool,
        areActivitiesAllowed: Bool,
        isActivityRunning: Bool = false,
        unconfirmed: Unconfirmed? = nil
    ) -> FollowButton {
        switch unconfirmed {
        case .inFlight: return .pending
        case .followWaiting: return .followWaiting
        case .unfollowWaiting: return .unfollowWaiting
        case .followRefused: return .followRefused
        case .unfollowRefused: return .unfollowRefused
        case nil: break
        }
        guard isFollowed else { return .notFollowing }
        guard areActivitiesAllowed else { return .followingWithoutActivities }
        return isActivityRunning ? .activityRunning : .following
    }
}

extension FollowButton.Unconfirmed {
    /// What a user's queue says about a subject; nil if it holds nothing of it.
    public init?(_ operations: [PendingOperation], uid: String?, subject: ActivitySubject) {
        let matching = operations.filter { $0.uid == uid && $0.kind.followedSubject == subject }
        guard let last = matching.last else { return nil }
        let isUnfollow = last.kind == .unfollow(subject)
        if matching.contains(where: { $0.state == .inFlight }) {
            self = .inFlight
        } else if last.state == .needsAttention {
            self = isUnfollow ? .unfollowRefused : .followRefused
        } else {
            self = isUnfollow ? .unfollowWaiting : .followWaiting
        }
    }
}
