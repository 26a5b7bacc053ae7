import PushContract

/// Whether alerts reach their receivers.
struct NotificationHealth: Hashable {
    struct Last: Hashable {
        var receiver: String
        /// `delivered`, `retry`, `deadLettered`, …
        var result: String
        var attemptedAt: Timestamp
        var status: Int?
        var error: String?
    }

    /// The newest try.
    var last: Last?
    /// Messages that wait to be delivered.
    var pending: Int
    var oldestPendingAt: Timestamp?
    /// Messages that were refused for good, or given up, in the last day.
    var lost: Int
    /// What is wrong with `receivers.yml`, which is therefore not in force.
    var fileFault: String?
}
