/// How alerts are delivered.
package struct NotifierConfiguration: Sendable {
    /// Where people find this service; the start of every link in a message. Without a trailing slash.
    package var externalURL: String
    /// How often the outbox is polled.
    package var pollInterval: Duration
    package var leaseDuration: Duration
    /// How long a claim of a message lasts: longer than the deadline of its sending.
    package var claimDuration: Duration
    /// Messages sent to one receiver at the same time. There is no common limit, so a receiver that hangs uses up its own places only.
    var parallelPerReceiver: Int
    /// How long after the end of an alert its messages are still tried.
    package var giveUpAfter: Duration

    package init(
        externalURL: String,
        pollInterval: Duration = .milliseconds(500),
        leaseDuration: Duration = .seconds(10),
        claimDuration: Duration = .seconds(14),
        parallelPerReceiver: Int = 4,
        giveUpAfter: Duration = .seconds(86_400)
    ) {
        self.externalURL = externalURL
        self.pollInterval = pollInterval
        self.leaseDuration = leaseDuration
        self.claimDuration = claimDuration
        self.parallelPerReceiver = parallelPerReceiver
        self.giveUpAfter = giveUpAfter
    }
}
