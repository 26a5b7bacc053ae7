/// What a widget shows of a pager's state, as the strings to draw: every layout (lock screen, Dynamic Island) shows the same, and it can be
/// tested without a phone. A SwiftUI view has one `Text` for each.
public struct PagerCard: Sendable, Hashable {
    /// Who sent the message.
    public var sender: String
    /// Its text.
    public var message: String
    /// When it was sent, as `HH:MM` in the viewer's time zone.
    public var time: String
    /// `2 of 5`; nil when it is the only message.
    public var position: String?
    /// `Demo` for sample messages.
    public var badge: String?

    /// Makes the card of a state.
    ///
    /// - Parameter utcOffset: Seconds east of UTC of the viewer's time zone (`TimeZone.current.secondsFromGMT()`).
    public init(_ state: PagerActivityAttributes.ContentState, utcOffset: Int = 0) {
        sender = state.sender
        message = state.message
        let minutes = PagerCard.wrap((state.timestamp + utcOffset) / 60, state.timestamp + utcOffset)
        time = PagerCard.twoDigits(minutes / 60) + ":" + PagerCard.twoDigits(minutes % 60)
        // A wrong index of the sender must not be shown as "6 of 5".
        let index = min(max(state.messageIndex, 0), max(state.totalMessages, 1) - 1)
        position = state.totalMessages > 1 ? "\(index + 1) of \(state.totalMessages)" : nil
        badge = state.isDemo ? "Demo" : nil
    }

    /// The minute of the day, also before 1970.
    private static func wrap(_ minutes: Int, _ seconds: Int) -> Int {
        let roundedDown = seconds < 0 && seconds % 60 != 0 ? minutes - 1 : minutes
        return ((roundedDown % 1440) + 1440) % 1440
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
