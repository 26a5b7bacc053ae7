package import Delivery
package import PushContract

/// An end that is due for a device, claimed by this process.
package struct EndClaim: Sendable {
    package var key: ActivityKey
    package var reason: EndReason
    package var token: PushToken
    package var app: String
    package var environment: PushEnvironment
    var lastTimestamp: Int64
    package var attempts: Int
}
