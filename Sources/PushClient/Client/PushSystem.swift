/// What the operating system does for the client. Implemented over UIKit and ActivityKit in an app, and by a simulated phone in tests.
///
/// The system answers later through the client's own calls: `pushTokenReceived`, `startTokenReceived`, `activityAppeared` and so on.
public protocol PushSystem: Sendable {
    /// Shows the prompt and waits for the answer.
    func askPermission() async -> PushPermission
    /// Looks without asking.
    func readPermission() async -> PushPermission
    /// Has the system hand out the push token (`registerForRemoteNotifications`).
    func askForPushToken() async
    /// Whether Live Activities are allowed.
    func areActivitiesAllowed() async -> Bool
    /// `Activity<…>.pushToStartToken` as it is now; nil while there is none. For an app whose activities have one type; one with several
    /// tells each by its name, and answers nil here.
    func pushToStartToken() async -> String?
    /// The same for each type by its name; ActivityKit hands out a token for each. None, unless the app says otherwise.
    func pushToStartTokens() async -> [String: String]
    /// The activities that are on the screen.
    func activities() async -> [SystemActivity]
    /// Starts an activity from the app, in the foreground; nil when the system refuses.
    func requestActivity(matchId: String) async -> SystemActivity?
    /// Takes it off the screen.
    func endActivity(_ activityId: String) async
}

extension PushSystem {
    /// For an app whose activities have one type.
    public func pushToStartTokens() async -> [String: String] { [:] }
}
