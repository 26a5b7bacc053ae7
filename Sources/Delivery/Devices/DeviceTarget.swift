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

    package init(
        userId: String,
        deviceId: String,
        platform: Platform,
        provider: Provider,
        environment: PushEnvironment,
        app: String,
        tokenState: TokenState
    ) {
        self.userId = userId
        self.deviceId = deviceId
        self.platform = platform
        self.provider = provider
        self.environment = environment
        self.app = app
        self.tokenState = tokenState
    }
}
