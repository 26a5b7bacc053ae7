import PushContract

/// A device as its user sees it: with its token's state, which tells the app whether to register anew, and never the token.
struct DeviceDocument: Encodable, Sendable {
    struct Token: Encodable, Sendable {
        var tokenHash: String
        var state: TokenState
        var cause: String?
        var since: Timestamp
    }

    var deviceId: String
    var platform: Platform
    var provider: Provider
    var environment: PushEnvironment
    var app: String
    var osVersion: String?
    var appVersion: String?
    var pushToken: Token
    var registrationVersion: Int64
    var registeredAt: Timestamp
    var lastSeenAt: Timestamp
    var expiresAt: Timestamp

    init(_ device: Device) {
        deviceId = device.deviceId
        platform = device.platform
        provider = device.provider
        environment = device.environment
        app = device.app
        osVersion = device.osVersion
        appVersion = device.appVersion
        pushToken = Token(
            tokenHash: device.tokenHash.rawValue,
            state: device.tokenState,
            cause: device.tokenStateCause,
            since: device.tokenStateSince
        )
        registrationVersion = device.registrationVersion
        registeredAt = device.registeredAt
        lastSeenAt = device.lastSeenAt
        expiresAt = device.expiresAt
    }
}
