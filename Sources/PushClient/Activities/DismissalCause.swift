/// Why an activity is no longer on the device.
public enum DismissalCause: String, Codable, Sendable, Hashable, CaseIterable {
    /// The user dismissed it and does not want this match.
    case user
    /// The app ended it because it had no update for half an hour.
    case stale
    /// The system ended it, or the app for another reason (an end push, a replacement, sign-out).
    case system
}
