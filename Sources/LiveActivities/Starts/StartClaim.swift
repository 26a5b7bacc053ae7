package import Delivery
package import PushContract

/// A start that this process has taken on itself to send, once.
package struct StartClaim: Sendable {
    package var key: ActivityKey
    var startId: Int64
    package var token: PushToken
    package var app: String
    package var environment: PushEnvironment
    package var osVersion: String?
    /// Starts of this instance, this one included.
    package var attempts: Int
    /// Of those before this one, how many may have reached the device.
    package var delivered: Int
    var startTokenVersion: Int64?
    package var claimedAt: Timestamp
    /// What the started activity is to listen to; nil: it brings an update token.
    package var channelId: String?
}
