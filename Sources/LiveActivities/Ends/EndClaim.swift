package import Delivery
package import PushContract

/// An end that is owed to a device, taken by this process for a while.
package struct EndClaim: Sendable {
    package var key: ActivityKey
    package var reason: EndReason
    package var token: PushToken
    package var app: String
    package var environment: PushEnvironment
    package var lastTimestamp: Int64
    package var attempts: Int
}
