/// What the operating system does for the client. Implemented over UIKit and ActivityKit in an app, and by a simulated phone in tests.
///
/// The system answers later through the client's own calls: `pushTokenReceived`, `startTokenReceived`, `activityAppeared` and so on.
public protocol PushSystem: Sendable {
    /// Shows the permission prompt and waits for the user's decision.
    func askPermission() async -> PushPermission
    /// Reads the permission without a prompt.
    func readPermission() async -> PushPermission
    /// Requests the push token from the system (`registerForRemoteNotifications`).
    func askForPushToken() async
    /// Whether Live Activities are allowed.
    func areActivitiesAllowed() async -> Bool
    /// `Activity<…>.pushToStartToken` as it is now; nil while there is none. For an app whose activities have one type; one with several
    /// returns nil here and implements the property below.
    func pushToStartToken() async -> String?
    /// The push-to-start token of each attributes type, by its name. Empty by default.
    func pushToStartTokens() async -> [String: String]
    /// The activities on the screen.
    func activities() async -> [SystemActivity]
    /// Starts an activity from the app (`Activity.request`), which the system allows in the foreground only; nil if it refuses.
    func requestActivity(_ request: ActivityRequest) async -> SystemActivity?
    /// Removes it from the screen.
    func endActivity(_ activityId: String) async
}

extension PushSystem {
    /// For an app whose activities have one type.
    public func pushToStartTokens() async -> [String: String] { [:] }
}
