import PushContract
import ServiceKit

/// Checks a message for what FCM refuses, before it is sent.
enum FCMRules {
    static let payloadLimit = 4096

    static func check(_ message: PushMessage) throws(PushError) {
        try PushValidation.checkCollapseId(message, code: "INVALID_ARGUMENT")
        guard message.payload == nil else { return try checkEncoded(message) }
        try checkType(message)
        try checkData(message.data)
        try checkOverrides(message.fcm)
        let json = FCMMessage.json(message, now: Timestamp(microseconds: 0))
        try checkShape(json)
        let size = payloadSize(json)
        guard size <= payloadLimit else {
            throw PushError(
                field: "",
                code: "INVALID_ARGUMENT",
                "The FCM payload has \(size) bytes; a message may have \(payloadLimit). Shorten body or data."
            )
        }
    }

    /// An encoded payload was checked when it was created.
    private static func checkEncoded(_ message: PushMessage) throws(PushError) {
        guard message.pushType == .liveactivity else {
            throw PushError(field: "payload", code: "INVALID_ARGUMENT", "FCM carries an encoded APNs payload for Live Activities only.")
        }
    }

    /// What the message requires of the target's address.
    static func check(_ message: PushMessage, for target: PushTarget) throws(PushError) {
        guard message.payload != nil, target.liveActivityToken?.isEmpty != false else { return }
        throw PushError(
            field: "liveActivityToken",
            code: "INVALID_ARGUMENT",
            "A Live Activity through FCM needs the activity's own token and the app's registration token."
        )
    }

    private static func checkType(_ message: PushMessage) throws(PushError) {
        switch message.pushType {
        case .alert: return
        case .background where message.title == nil && message.body == nil && message.sound == nil && message.badge == nil: return
        case .background:
            throw PushError(
                field: "title",
                code: "INVALID_ARGUMENT",
                "A background push shows nothing; take away title, body, sound and badge, or set \"pushType\" to alert."
            )
        case .liveactivity where message.fcm["apns"]?["live_activity_token"] != nil: return
        case .liveactivity:
            throw PushError(
                field: "fcm/apns/live_activity_token",
                code: "INVALID_ARGUMENT",
                "A Live Activity push through FCM needs \"fcm.apns.live_activity_token\"."
            )
        default:
            throw PushError(
                field: "pushType",
                code: "INVALID_ARGUMENT",
                "FCM carries alert, background and Live Activity pushes; \(message.pushType.rawValue) needs a device registered with APNs."
            )
        }
    }

    /// Google, "REST Resource: projects.messages": reserved words of `data`.
    private static func checkData(_ data: JSONMembers) throws(PushError) {
        for key in data.keys.sorted()
        where key.isEmpty || ["from", "message_type"].contains(key) || key.hasPrefix("google.") || key.hasPrefix("gcm.") {
            throw PushError(field: "data/\(key)", code: "INVALID_ARGUMENT", "\"\(key)\" in \"data\" is a name FCM keeps for itself.")
        }
    }

    /// The target is that of the send, never of its content.
    private static func checkOverrides(_ fcm: JSONMembers) throws(PushError) {
        guard let name = ["token", "fid", "topic", "condition", "name"].first(where: { fcm[$0] != nil }) else { return }
        throw PushError(field: "fcm/\(name)", code: "INVALID_ARGUMENT", "\"fcm.\(name)\" cannot be set: a send names its own target.")
    }

    private static func checkShape(_ json: JSONValue) throws(PushError) {
        for name in ["notification", "data", "android", "apns", "webpush", "fcm_options"] {
            guard let part = json[name], part.members == nil else { continue }
            throw PushError(field: "fcm/\(name)", code: "INVALID_ARGUMENT", "\"fcm.\(name)\" must be an object.")
        }
        for (key, value) in json["data"]?.members ?? [:] where value.string == nil {
            throw PushError(field: "fcm/data/\(key)", code: "INVALID_ARGUMENT", "The values of \"fcm.data\" must be strings.")
        }
    }

    /// Google does not document how it counts; all descriptions include the names and texts of what is delivered.
    static func payloadSize(_ json: JSONValue) -> Int {
        let texts = ["notification", "data"].compactMap { json[$0]?.members }.joined().reduce(0) { size, member in
            size + member.key.utf8.count + (member.value.string?.utf8.count ?? 0)
        }
        return max(texts, json["apns"]?["payload"]?.text.utf8.count ?? 0)
    }
}
