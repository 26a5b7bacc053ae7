package import Providers
package import PushContract

/// A state as it goes to all followers of its subject.
package struct PublishedState: Sendable {
    package var subject: String
    /// Of the process that published it: distinguishes its attempts from another's.
    package var epoch: Int64 = 1
    package var timestamp: Int64
    package var hash: String
    package var builtAt: Timestamp
    package var event: KeyEventClass
    /// Built once; only the priority differs from device to device.
    package var message: PushMessage
    /// The same for channels.
    package var broadcast: LiveActivityPush
}
