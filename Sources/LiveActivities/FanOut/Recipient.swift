package import Delivery
package import Providers
package import PushContract

/// Who gets updates: an active activity by its token, or all that listen to a channel.
package struct Recipient: Sendable, Hashable {
    /// Where updates go.
    package enum Address: Sendable, Hashable {
        case token(PushToken)
        case channel(BroadcastChannel)

        /// The only form in which it may be written down.
        package var hash: TokenHash {
            switch self {
            case .token(let token): token.hash
            case .channel(let channel): channel.hash
            }
        }
    }

    package var key: ActivityKey
    package var address: Address
    package var app: String
    package var environment: PushEnvironment
    /// `aps.timestamp` of what it was last sent.
    var lastTimestamp: Int64
    /// The newest state that any instance on the device was sent: it needs no alert of that or of earlier ones.
    var alertedThrough: Int64 = 0
    /// Nil: a channel, which is older than all it is sent.
    var createdAt: Timestamp?
    /// From when on the device's bucket for boundaries is full again, as it was stored; nil: it is.
    var budgetFullAt: Timestamp?

    var isChannel: Bool { if case .channel = address { true } else { false } }

    package init(key: ActivityKey, token: PushToken, app: String, environment: PushEnvironment, lastTimestamp: Int64) {
        self.key = key
        address = .token(token)
        self.app = app
        self.environment = environment
        self.lastTimestamp = lastTimestamp
    }

    package init(_ key: ChannelKey, channel: BroadcastChannel, lastTimestamp: Int64) {
        self.key = key.activity
        address = .channel(channel)
        app = key.appEnvironment.app
        environment = key.appEnvironment.environment
        self.lastTimestamp = lastTimestamp
    }
}
