/// Why an activity ended, spelled as stored.
package enum EndReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its subject is over.
    case matchEnd = "match_end"
    case userUnfollow = "user_unfollow"
    /// Swiped away; for the match that is an unfollow.
    case userDismissed = "user_dismissed"
    /// The provider called its update token dead: an end that heals itself.
    case tokenInvalid = "token_invalid"
    /// The user signed out on the device, or another user signed in.
    case deviceUnregistered = "device_unregistered"
    /// The day's play is over, or has not begun after all: it comes back when play goes on.
    case stumps
    /// Not an end for the follower: the next instance took its place before the system's eight hours were over.
    case rolledOver = "rolled_over"

    /// Everybody's activity ends, with a last state to be seen: those that listen to a channel get the end, and its alert, through it.
    var concernsAll: Bool { self == .matchEnd || self == .stumps }
}
