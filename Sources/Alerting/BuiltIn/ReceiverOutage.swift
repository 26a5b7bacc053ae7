import AlertRules
import PushContract

/// What waits for a receiver that does not take it: requests to it fail, or no receiver of its name is configured.
struct ReceiverOutage: Sendable, Hashable {
    /// Pages of alerts that fire and wait for so long are a page, through other receivers.
    static let pageAfter = Duration.seconds(120)
    /// Other notifications that wait for so long are a ticket.
    static let ticketAfter = Duration.seconds(300)

    var receiver: String
    /// When the oldest notification that waits was created, and the oldest page of an alert that fires.
    var waitingSince: Timestamp
    var pageWaitingSince: Timestamp?
    var waiting: Int64
    var lastError: String?

    /// Nil while it has not lasted.
    func severity(at now: Timestamp) -> Severity? {
        if let pageWaitingSince, now - pageWaitingSince >= Self.pageAfter { return .page }
        return now - waitingSince >= Self.ticketAfter ? .ticket : nil
    }
}
