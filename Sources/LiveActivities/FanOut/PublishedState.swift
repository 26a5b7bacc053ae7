package import Providers
package import PushContract

/// A state as it goes to all followers of its subject.
package struct PublishedState: Sendable {
    package var subject: String
    /// Of the process that published it: distinguishes its attempts from another's.
    package var epoch: Int64
    package var timestamp: Int64
    package var hash: String
    package var builtAt: Timestamp
    package var event: KeyEventClass
    /// Built once; only the priority differs from device to device.
    package var message: PushMessage
    /// The same for channels.
    package var broadcast: LiveActivityPush

    package init(
        subject: String,
        epoch: Int64 = 1,
        timestamp: Int64,
        hash: String,
        builtAt: Timestamp,
        event: KeyEventClass,
        message: PushMessage,
        broadcast: LiveActivityPush
    ) {
        self.subject = subject
        self.epoch = epoch
        self.timestamp = timestamp
        self.hash = hash
        self.builtAt = builtAt
        self.event = event
        self.message = message
        self.broadcast = broadcast
    }
}
