package import PushContract

/// What an app reports about the device it runs on, checked.
package struct DeviceRegistration: Sendable {
    package var userId: String
    package var deviceId: String
    package var token: PushToken
    package var platform: Platform
    package var provider: Provider
    package var environment: PushEnvironment
    package var app: String
    package var osVersion: String?
    package var appVersion: String?
    /// BCP 47, as the app reports it.
    package var locale: String?

    package init(
        userId: String,
        deviceId: String,
        token: PushToken,
        platform: Platform,
        provider: Provider,
        environment: PushEnvironment = .production,
        app: String,
        osVersion: String? = nil,
        appVersion: String? = nil,
        locale: String? = nil
    ) {
        self.userId = userId
        self.deviceId = deviceId
        self.token = token
        self.platform = platform
        self.provider = provider
        self.environment = environment
        self.app = app
        self.osVersion = osVersion
        self.appVersion = appVersion
        self.locale = locale
    }
}
