public import PushContract

/// A Live Activity as the system shows it. Uses no ActivityKit type, so that the logic runs and is tested on every platform.
public struct SystemActivity: Sendable, Hashable {
    /// The system's id.
    public var activityId: String
    /// What it is about; from its attributes.
    public var subject: ActivitySubject
    /// From its attributes: the number of the server's start; nil if the app started it.
    public var instance: Int?
    /// The date of the content that it shows: `updatedAt` of a match's state, or `content.staleDate` less half an hour. Nil if the content
    /// has no date; such an activity never becomes stale here.
    public var contentDate: Timestamp?
    /// The update token, after the system has provided it. In memory only.
    public var updateToken: String?

    /// Creates it from its parts.
    public init(
        activityId: String,
        subject: ActivitySubject,
        instance: Int? = nil,
        contentDate: Timestamp? = nil,
        updateToken: String? = nil
    ) {
        self.activityId = activityId
        self.subject = subject
        self.instance = instance
        self.contentDate = contentDate
        self.updateToken = updateToken
    }
}
