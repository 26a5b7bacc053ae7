public import PushContract

/// The device and app that the client registers.
public struct PushDevice: Sendable, Hashable {
    /// Of this app on this device; another one after a reinstall. `identifierForVendor` is the same for all apps of a vendor, and two apps
    /// with one id would take each other's registration: put the bundle id before it.
    public var deviceId: String
    /// The platform of the device.
    public var platform: Platform
    /// The provider's environment that its tokens belong to.
    public var environment: PushEnvironment
    /// The bundle id, or the FCM app.
    public var app: String
    /// For example `18.2`.
    public var osVersion: String
    /// The app's version.
    public var appVersion: String
    /// Of the person, in BCP 47, for example `de-AT`: the language of pushes whose texts the server has.
    public var locale: String?

    /// Creates it from its parts.
    public init(
        deviceId: String,
        platform: Platform = .ios,
        environment: PushEnvironment = .production,
        app: String,
        osVersion: String,
        appVersion: String,
        locale: String? = nil
    ) {
        self.deviceId = deviceId
        self.platform = platform
        self.environment = environment
        self.app = app
        self.osVersion = osVersion
        self.appVersion = appVersion
        self.locale = locale
    }

    /// The provider of its push token.
    public var provider: Provider { platform == .ios ? .apns : .fcm }

    /// Whether its system provides push-to-start tokens (iOS 17.2).
    public var hasStartTokens: Bool {
        guard platform == .ios else { return false }
        let parts = osVersion.split(separator: ".").map { Int($0) ?? 0 }
        let first = TokenManager.firstSystemWithStartTokens
        return (parts.first ?? 0, parts.count > 1 ? parts[1] : 0) >= (first.major, first.minor)
    }
}
