import PushContract

/// Checks a broadcast for what APNs refuses, before it is sent.
enum APNsChannelRules {
    static let payloadLimit = 5120
    /// How long APNs stores the newest message of a storing channel.
    static let longestStorage = Duration.seconds(8 * 3600)

    /// The payload of a broadcast.
    static func payload(_ push: LiveActivityPush, channel: BroadcastChannel) throws(PushError) -> [UInt8] {
        if case .start = push.event {
            throw PushError(
                field: "event",
                code: "InvalidPushType",
                "A start cannot be broadcast; start each activity by its push-to-start token and let it listen to the channel."
            )
        }
        try check(channel: channel.id)
        if channel.storage == .none, let expiresAt = push.expiresAt, expiresAt > push.timestamp {
            throw PushError(
                field: "expiresAt",
                code: "BadExpirationDate",
                "This channel keeps no message, so its messages cannot expire later; leave \"expiresAt\" out."
            )
        }
        return try push.payload(limit: payloadLimit).bytes
    }

    /// `apns-expiration`, which a broadcast requires: 0 for a channel that stores nothing.
    static func expiration(_ push: LiveActivityPush, channel: BroadcastChannel) -> Int64 {
        switch channel.storage {
        case .none: 0
        case .newest: max(0, (push.expiresAt ?? push.timestamp + longestStorage).seconds)
        }
    }

    static func check(channel id: String) throws(PushError) {
        guard isId(id) else {
            throw PushError(field: "channel", code: "BadChannelId", "\"channel\" must be the id the channel was made with.")
        }
    }

    /// Visible ASCII without spaces: one at an end would be lost in a header (RFC 9113, 8.2.1), and APNs makes no id with one within.
    static func isId(_ text: String) -> Bool { !text.isEmpty && PushValidation.isHeaderText(text) && !text.contains(" ") }

    static func check(app: String) throws(PushError) {
        try APNsRules.check(topic: app, of: .alert, field: "app")
    }
}
