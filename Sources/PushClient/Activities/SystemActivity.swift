/// A Live Activity as the system shows it. Names no ActivityKit type, so that the logic runs, and is tested, wherever Swift does.
public struct SystemActivity: Sendable, Hashable {
    /// The system's id.
    public var activityId: String
    /// From its attributes.
    public var matchId: String
    /// From its attributes: which start of the server's it is; nil when the app started it.
    public var instance: Int?
    /// The token updates go to, once the system has handed it out. Memory only.
    public var updateToken: String?

    /// Describes one.
    public init(activityId: String, matchId: String, instance: Int? = nil, updateToken: String? = nil) {
        self.activityId = activityId
        self.matchId = matchId
        self.instance = instance
        self.updateToken = updateToken
    }
}
