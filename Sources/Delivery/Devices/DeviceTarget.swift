package import PushContract

/// A device a send can go to.
package struct DeviceTarget: Sendable, Hashable {
    package var userId: String
    package var deviceId: String
    package var platform: Platform
    package var provider: Provider
    package var environment: PushEnvironment
    package var app: String
    package var tokenState: TokenState
}
