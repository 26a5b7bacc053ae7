package import PushContract
package import ServiceKit

/// The content of a push, independent of the provider.
package struct PushMessage: Sendable, Hashable {
    package var title: String?
    package var body: String?
    /// For the app. APNs: members next to `aps`. FCM: `data`, where values that are not strings become their JSON text.
    package var data: JSONMembers
    /// Merged into the APNs payload, member by member; these members take precedence.
    package var apns: JSONMembers
    /// Merged into the FCM message, member by member; these members take precedence.
    package var fcm: JSONMembers
    package var pushType: APNsPushType
    package var priority: PushPriority
    /// At most 64 bytes. A later push with the same one replaces the earlier on the device.
    package var collapseId: String?
    /// The push is not delivered after this moment; nil: the provider's default.
    package var expiresAt: Timestamp?
    /// The complete `apns-topic`; nil: derived from the app and the push type.
    package var topic: String?
    /// Name of a sound of the app, or `default`.
    package var sound: String?
    /// Number on the app's icon; iOS only.
    package var badge: Int?
    /// A complete APNs payload, sent byte for byte; title, body, data, sound, badge, `apns` and `fcm` are then ignored. FCM delivers it for
    /// Live Activities.
    package var payload: EncodedPayload?
    /// FCM checks the message and delivers nothing. APNs has no equivalent.
    package var validateOnly = false

    /// The `apns-topic` of this message to an app.
    package func apnsTopic(of app: String) -> String {
        let suffix = pushType.topicSuffix
        return topic ?? (suffix.isEmpty ? app : app + suffix)
    }

    package init(
        title: String? = nil,
        body: String? = nil,
        data: JSONMembers = [:],
        apns: JSONMembers = [:],
        fcm: JSONMembers = [:],
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
