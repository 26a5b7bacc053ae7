import PushContract

/// The outcome of one attempt.
struct NotificationOutcome: Sendable {
    enum Result: String, Sendable, CaseIterable {
        case delivered, retry, deadLettered, undelivered, superseded
    }

    var result: Result
    var status: Int?
    var latency: Duration
    var responsePrefix: String?
    var error: String?
    var nextAttemptAt: Timestamp
    /// Where the receiver keeps the message.
    var thread: String?
}
