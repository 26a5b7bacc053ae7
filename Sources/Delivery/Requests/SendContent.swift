package import HTTPServer
package import Providers
package import ServiceKit

/// What is to be shown, or handed to the app; kept as the caller sent it.
package struct SendContent: Sendable, Hashable {
    package var title: String?
    package var body: String?
    package var data: JSONMembers
    /// Members to merge into the APNs payload.
    package var apns: JSONMembers
    /// Members to merge into the FCM message.
    package var fcm: JSONMembers
    /// One of `APNsPushType`; alert by default.
    package var pushType: String?
    package var collapseId: String?
    package var priority: PushPriority
    /// Complete `apns-topic`, where the app and the push type do not give it.
    package var topic: String?
    package var sound: String?
    package var badge: Int64?
    /// The name of a text of `SendTexts` and the values for its placeholders; title and body are then those of the device's locale.
    package var text: JSONValue?

    /// As it is stored.
    package var json: JSONValue {
        var members = JSONMembers(minimumCapacity: 6)
        // High where there is none, as in a request.
        if priority != .high { members["priority"] = .string(priority.rawValue) }
        if let title { members["title"] = .string(title) }
        if let body { members["body"] = .string(body) }
        if let pushType { members["pushType"] = .string(pushType) }
        if let collapseId { members["collapseId"] = .string(collapseId) }
        if let topic { members["topic"] = .string(topic) }
        if let sound { members["sound"] = .string(sound) }
        if let badge { members["badge"] = .integer(badge) }
        if let text { members["text"] = text }
        if !data.isEmpty { members["data"] = .object(data) }
        if !apns.isEmpty { members["apns"] = .object(apns) }
        if !fcm.isEmpty { members["fcm"] = .object(fcm) }
        return .object(members)
    }

    /// From a request, or from what `json` made. Takes its fields and leaves the others.
    package init(_ fields: inout JSONFields) throws(Problem) {
        title = try fields.optional("title", JSONFields.text(1...1000))
        body = try fields.optional("body", JSONFields.text(1...4000))
        data = try fields.optional("data", JSONFields.object) ?? [:]
        apns = try fields.optional("apns", JSONFields.object) ?? [:]
        fcm = try fields.optional("fcm", JSONFields.object) ?? [:]
        pushType = try fields.optional("pushType", JSONFields.oneOf(APNsPushType.self))?.rawValue
        collapseId = try fields.optional("collapseId", JSONFields.string(1...64))
        priority = try fields.optional("priority", JSONFields.oneOf(PushPriority.self)) ?? .high
        topic = try fields.optional("topic", JSONFields.string(1...250))
        sound = try fields.optional("sound", JSONFields.string(1...100))
        badge = try fields.optional("badge", JSONFields.integer(0...999_999))
        text = try fields.optional("text", SendContent.text)
    }

    private static func text(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> JSONValue {
        var fields = try JSONFields(value, at: field.pointer)
        _ = try fields.required("name", JSONFields.string(1...100))
        let values = try fields.optional("values", JSONFields.object) ?? [:]
        try fields.finish()
        guard values.values.allSatisfy({ $0.string != nil }) else {
            throw fields.field("values").invalid("\"values\" are strings, by the name of the placeholder.")
        }
        return value
    }
}
