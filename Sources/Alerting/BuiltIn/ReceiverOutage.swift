import AlertRules
import PushContract

/// Notifications that wait for a receiver because requests to it fail, or no receiver of its name is configured.
struct ReceiverOutage: Sendable, Hashable {
    /// Pages of firing alerts that wait this long raise a page, to other receivers.
    static let pageAfter = Duration.seconds(120)
    /// Other notifications that wait this long raise a ticket.
    static let ticketAfter = Duration.seconds(300)

    var receiver: String
    /// When the oldest notification that waits was created, and the oldest page of an alert that fires.
    var waitingSince: Timestamp
    var pageWaitingSince: Timestamp?
    var waiting: Int64
    var lastError: String?

    /// Nil before those times have passed.
    func severity(at now: Timestamp) -> Severity? {
        if let pageWaitingSince, now - pageWaitingSince >= Self.pageAfter { return .page }
        return now - waitingSince >= Self.ticketAfter ? .ticket : nil
    }
}
