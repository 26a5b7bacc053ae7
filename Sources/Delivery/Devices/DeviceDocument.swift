import PushContract

/// A user's devices.
struct DeviceList: Encodable, Sendable {
    var devices: [DeviceDocument]
}

/// A device as its user sees it: with each token's state, from which the app sees whether to register again, and never a token.
struct DeviceDocument: Encodable, Sendable {
    struct Token: Encodable, Sendable {
        var tokenHash: String
        var state: TokenState
        var cause: String?
        /// The bucket of the provider's code; with `token_not_registered` the app unregisters this token and registers anew.
        var reasonCode: ReasonCode?
        var since: Timestamp

        init(hash: TokenHash, state: TokenState, cause: String?, since: Timestamp, provider: Provider) {
            tokenHash = hash.rawValue
            self.state = state
            self.cause = cause
            self.since = since
            reasonCode = state == .active ? nil : cause.flatMap { Token.reason($0, provider) }
        }

        private static func reason(_ cause: String, _ provider: Provider) -> ReasonCode? {
            guard cause != DeviceQueries.moved, cause != DeviceQueries.unregistered else { return nil }
            return ReasonMapping.tokenCause(cause, provider: provider).reasonCode
        }
    }

    var deviceId: String
    var platform: Platform
    var provider: Provider
    var environment: PushEnvironment
    var app: String
    var osVersion: String?
    var appVersion: String?
    var locale: String?
    var pushToken: Token
    var pushToStartToken: Token?
    /// By the attributes type that the app named.
    var pushToStartTokens: [String: Token]?
    var registrationVersion: Int64
    var registeredAt: Timestamp
    var lastSeenAt: Timestamp
    var expiresAt: Timestamp
    /// Only in the answer to a registration.
    var unregisterSecret: String?

    init(_ device: Device, unregisterSecret: UnregisterSecret? = nil) {
        deviceId = device.deviceId
        platform = device.platform
        provider = device.provider
        environment = device.environment
        app = device.app
        osVersion = device.osVersion
        appVersion = device.appVersion
        locale = device.locale
        pushToken = Token(
            hash: device.tokenHash,
            state: device.tokenState,
            cause: device.tokenStateCause,
            since: device.tokenStateSince,
            provider: device.provider
        )
        pushToStartToken = device.startToken.map {
            Token(hash: $0.hash, state: $0.state, cause: $0.cause, since: $0.since, provider: device.provider)
        }
        if !device.typedStartTokens.isEmpty {
            pushToStartTokens = Dictionary(
                uniqueKeysWithValues: device.typedStartTokens.map { typed in
                    let token = typed.token
                    return (
                        typed.attributesType,
                        Token(hash: token.hash, state: token.state, cause: token.cause, since: token.since, provider: device.provider)
                    )
                }
            )
        }
        registrationVersion = device.registrationVersion
        registeredAt = device.registeredAt
        lastSeenAt = device.lastSeenAt
        expiresAt = device.expiresAt
        self.unregisterSecret = unregisterSecret?.text
    }
}
