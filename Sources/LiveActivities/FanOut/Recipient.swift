package import Devices
package import PushContract

/// An active activity: who gets updates.
package struct Recipient: Sendable, Hashable {
    package var key: ActivityKey
    package var token: PushToken
    package var app: String
    package var environment: PushEnvironment
    /// `aps.timestamp` of what it was last sent.
    package var lastTimestamp: Int64

    package init(key: ActivityKey, token: PushToken, app: String, environment: PushEnvironment, lastTimestamp: Int64) {
        self.key = key
        self.token = token
        self.app = app
        self.environment = environment
        self.lastTimestamp = lastTimestamp
    }
}
