import Delivery
import Postgres
package import PushContract

/// What activities show at one moment: a match, or anything a caller started, with the state everybody gets.
package struct LiveSubject: Sendable, Hashable {
    /// A matchId, or `<attributesType>/<activityId>`.
    package var id: String
    package var attributesType: String
    /// One JSON object; a start adds the instance to it.
    package var attributes: String
    /// The content state, byte for byte as it is sent.
    package var state: String
    package var stateHash: String
    /// `aps.timestamp`: rises strictly.
    package var timestamp: Int64
    package var builtAt: Timestamp
    package var event: KeyEventClass
    /// Shown with a start, which must have one.
    var startAlert: Alert
    /// Being shown: starts and updates go out.
    var isLive: Bool
    /// It goes on another day: activities end with this state, and come back then.
    var isResting = false
    /// Nothing comes any more: activities end with this state.
    package var isOver: Bool
    /// When ended activities leave the screen; nil: a quarter of an hour after the end.
    var dismissAt: Timestamp?
    package var epoch: Int64

    package struct Alert: Sendable, Hashable {
        package var title: String
        package var body: String

        package init(title: String, body: String) {
            self.title = title
            self.body = body
        }
    }
}
