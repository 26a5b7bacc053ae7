package import PushContract
package import ServiceKit

/// What is to be shown, or handed to the app, in words that fit both providers.
package struct PushMessage: Sendable, Hashable {
    package var title: String?
    package var body: String?
    /// For the app. APNs: members beside `aps`. FCM: `data`, where values that are not strings become their JSON text.
    package var data: [String: JSONValue]
    /// Merged into the APNs payload, member by member; what stands here wins.
    package var apns: [String: JSONValue]
    /// Merged into the FCM message, member by member; what stands here wins.
    package var fcm: [String: JSONValue]
    package var pushType: APNsPushType
    package var priority: PushPriority
    /// At most 64 bytes. A later push with the same one replaces the earlier on the device.
    package var collapseId: String?
    /// Not delivered after this moment; nil leaves it to the provider.
    package var expiresAt: Timestamp?
    /// Complete `apns-topic`, for what the app and the push type do not give. Nil is the usual.
    package var topic: String?
    /// Name of a sound of the app, or `default`.
    package var sound: String?
    /// Number on the app's icon; iOS only.
    package var badge: Int?
    /// A complete APNs payload, sent byte for byte; title, body, data, sound, badge, `apns` and `fcm` then play no part. FCM carries it for
    /// Live Activities.
    package var payload: EncodedPayload?
    /// FCM checks the message and delivers nothing. APNs knows no such thing.
    package var validateOnly = false

    package init(
        title: String? = nil,
        body: String? = nil,
        data: [String: JSONValue] = [:],
        apns: [String: JSONValue] = [:],
        fcm: [String: JSONValue] = [:],
        pushType: APNsPushType = .alert,
        priority: PushPriority = .high,
        collapseId: String? = nil,
        expiresAt: Timestamp? = nil,
        topic: String? = nil,
        sound: String? = nil,
        badge: Int? = nil
    ) {
        self.title = title
        self.body = body
        self.data = data
        self.apns = apns
        self.fcm = fcm
        self.pushType = pushType
        self.priority = priority
        self.collapseId = collapseId
        self.expiresAt = expiresAt
        self.topic = topic
        self.sound = sound
        self.badge = badge
    }
}
