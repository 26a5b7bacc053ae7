/// A Live Activity as the system shows it. Uses no ActivityKit type, so that the logic runs and is tested on every platform.
public struct SystemActivity: Sendable, Hashable {
    /// The system's id.
    public var activityId: String
    /// From its attributes.
    public var matchId: String
    /// From its attributes: the number of the server's start; nil if the app started it.
    public var instance: Int?
    /// The update token, after the system has provided it. In memory only.
    public var updateToken: String?

    /// Creates it from its parts.
    public init(activityId: String, matchId: String, instance: Int? = nil, updateToken: String? = nil) {
        self.activityId = activityId
        self.matchId = matchId
        self.instance = instance
        self.updateToken = updateToken
    }
}
