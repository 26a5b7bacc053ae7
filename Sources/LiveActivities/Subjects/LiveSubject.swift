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
    /// It goes on another day, or was live and has not begun after all: from then on activities end with this state, and come back when it
    /// is live.
    var restingFrom: Timestamp?
    /// It goes on another day.
    var isDayOver = false
    /// Nothing comes any more: activities end with this state.
    package var isOver: Bool
    /// When it was over: states from that second on are the last one, and corrections of it.
    var endedAt: Timestamp?
    /// When its source last said that this is the state, and how long that holds; nil: nothing confirms it.
    var freshness: Freshness?
    /// The caller's: when the state is out of date at the latest.
    var staleAt: Timestamp?
    var relevanceScore: Double?
    /// When ended activities leave the screen; nil: a quarter of an hour after the end.
    var dismissAt: Timestamp?
    /// Whether states go through broadcast channels as well, where those are on.
    var usesChannels = true
    package var epoch: Int64

    var isResting: Bool { restingFrom != nil }

    /// Whether activities get this state: also that of the evening, before they end with it. That of a match which has not begun after all
    /// has nothing to show.
    func isShown(now: Timestamp) -> Bool { isLive || isDayOver && restingFrom.map { now < $0 } ?? false }

    /// Whether a start would show what is so.
    func isFresh(now: Timestamp) -> Bool { freshness?.isFresh(now: now) ?? true }

    package struct Alert: Sendable, Hashable {
        package var title: String
        package var body: String
        /// Nil: silent.
        package var sound: String?
        var interruptionLevel: InterruptionLevel?

        package init(title: String, body: String, sound: String? = "default") {
            self.title = title
            self.body = body
            self.sound = sound
        }

        /// As it is stored.
        init(title: String, body: String, sound: String?, level: String?) {
            self.init(title: title, body: body, sound: sound)
            interruptionLevel = level.flatMap(InterruptionLevel.init(rawValue:))
        }
    }

    /// How an alert may interrupt, spelled as sent.
    enum InterruptionLevel: String, Sendable, Hashable, CaseIterable {
        case passive, active, critical
        case timeSensitive = "time-sensitive"
    }
}
