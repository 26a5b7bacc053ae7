package import PushClient
package import PushContract
package import ServiceKit

/// An activity on a simulated phone's lock screen.
package struct ShownActivity: Sendable, Hashable {
    package let activityId: String
    /// From its attributes: the match, or the activityId that the server filled in.
    package let subject: ActivitySubject
    package let instance: Int?
    package let startedAt: Timestamp
    /// Started by a push: it has no update token before the person allows it.
    let byPush: Bool
    package internal(set) var updateToken: String?
    package internal(set) var channel: String?
    /// `aps.timestamp` of what is shown; older content is dropped.
    package internal(set) var timestamp: Int64
    /// The content state as it arrived.
    package internal(set) var contentState: JSONValue?
    /// `aps.stale-date` of what is shown.
    var staleDate: Int64?
    /// How many updates it showed.
    package internal(set) var updates = 0
    /// When it leaves the screen after its end; nil while it runs.
    package internal(set) var dismissalAt: Timestamp?

    /// The name of its subject; of a match the matchId.
    package var matchId: String { subject.name }
}
