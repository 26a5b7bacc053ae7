/// Why an activity is no longer on the device.
public enum DismissalCause: String, Codable, Sendable, Hashable, CaseIterable {
    /// The person swiped it away: they do not want this match.
    case user
    /// The app ended it because nothing came for half an hour.
    case stale
    /// The system ended it, or the app for a reason of its own (an end push, a replacement, sign-out).
    case system
}
