/// How alerts are delivered.
package struct NotifierConfiguration: Sendable {
    /// Where people find this service; the start of every link in a message. Without a trailing slash.
    package var externalURL: String
    /// How often the outbox is looked at.
    package var pollInterval: Duration
    package var leaseDuration: Duration
    /// How long a message is nobody else's once taken: longer than any receiver's timeout.
    package var claimDuration: Duration
    /// Messages sent at the same time, in all and to one receiver.
    package var parallel: Int
    var parallelPerReceiver: Int
    /// How long after the end of an alert its messages are still tried.
    package var giveUpAfter: Duration

    package init(
        externalURL: String,
        pollInterval: Duration = .milliseconds(500),
        leaseDuration: Duration = .seconds(10),
        claimDuration: Duration = .seconds(14),
        parallel: Int = 16,
        parallelPerReceiver: Int = 4,
        giveUpAfter: Duration = .seconds(86_400)
    ) {
        self.externalURL = externalURL
        self.pollInterval = pollInterval
        self.leaseDuration = leaseDuration
        self.claimDuration = claimDuration
        self.parallel = parallel
        self.parallelPerReceiver = parallelPerReceiver
        self.giveUpAfter = giveUpAfter
    }
}
