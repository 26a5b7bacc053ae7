import ServiceKit

/// The checks on the `message` of a send ("REST Resource: projects.messages").
enum FCMMessageChecks {
    /// Bytes of payload to a token, and to a topic or condition.
    static let payloadLimit = 4096
    static let topicPayloadLimit = 2048
    /// Four weeks, in seconds.
    static let maximumTTL = 2_419_200.0

    static func check(_ message: JSONValue) throws(FCMError) -> FCMTarget {
        try FCMFieldChecks.refuseUnknown(
            message.members ?? [:],
            known: [
                "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "fcmOptions", "token", "topic", "condition",
                "fid",
            ],
            at: "message"
        )
        let target = try target(of: message)
        try checkNotification(message["notification"])
        try FCMFieldChecks.stringMap(message["data"], at: "message.data")
        try checkDataKeys(message["data"])
        try checkAndroid(message["android"])
        try checkAPNs(message["apns"])
        let limit = target.token == nil ? topicPayloadLimit : payloadLimit
        guard payloadSize(of: message) <= limit else { throw .tooBig }
        return target
    }

    private static func target(of message: JSONValue) throws(FCMError) -> FCMTarget {
        let given = ["token", "fid", "topic", "condition"].filter { message[$0] != nil }
        guard let kind = given.first else { throw .invalid("message", "Recipient of the message is not set.") }
        guard given.count == 1 else {
            throw .unparsable(
                "message",
                "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '\(given[1])'"
            )
        }
        guard let value = message[kind]?.string else {
            throw .unparsable("message.\(kind)", "Invalid value at 'message.\(kind)' (TYPE_STRING)")
        }
        switch kind {
        case "topic":
            guard isTopic(value) else { throw .invalid("message.topic", "Malformed topic name.") }
            return .topic(value)
        case "condition": return .condition(value)
        default:
            guard isToken(value) else {
                throw .invalid("message.\(kind)", "The registration token is not a valid FCM registration token")
            }
            return .token(value)
        }
    }

    private static func checkNotification(_ notification: JSONValue?) throws(FCMError) {
        guard let notification else { return }
        guard let members = notification.members else {
            throw .unparsable("message.notification", "Invalid value at 'message.notification'")
        }
        try FCMFieldChecks.refuseUnknown(members, known: ["title", "body", "image"], at: "message.notification")
        try FCMFieldChecks.stringMap(notification, at: "message.notification")
    }

    private static func checkDataKeys(_ data: JSONValue?) throws(FCMError) {
        for key in (data?.members ?? [:]).keys
        where ["from", "message_type"].contains(key) || key.hasPrefix("google.") || key.hasPrefix("gcm.") {
            throw .invalid("message.data", "Invalid data payload key: \(key)")
        }
    }

    private static func checkAndroid(_ android: JSONValue?) throws(FCMError) {
        if let priority = android?["priority"] {
            guard let name = priority.string, ["normal", "high"].contains(name.lowercased()) else {
                throw .unparsable("message.android.priority", "Invalid value at 'message.android.priority' (TYPE_ENUM)")
            }
        }
        if let ttl = android?["ttl"] {
            guard let text = ttl.string, text.hasSuffix("s"), let seconds = Double(text.dropLast()) else {
                throw .unparsable(
                    "message.android.ttl",
                    "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration)"
                )
            }
            guard (0...maximumTTL).contains(seconds) else {
                throw .invalid("message.android.ttl", "Invalid Android TTL, must be between 0 and 2419200 seconds.")
            }
        }
        try FCMFieldChecks.stringMap(android?["data"], at: "message.android.data")
    }

    private static func checkAPNs(_ apns: JSONValue?) throws(FCMError) {
        try FCMFieldChecks.stringMap(apns?["headers"], at: "message.apns.headers")
        if let payload = apns?["payload"], payload.members == nil {
            throw .unparsable("message.apns.payload", "Invalid value at 'message.apns.payload'")
        }
    }

    /// Names and texts of what is delivered. Google does not publish its count; this is the part all descriptions agree on.
    static func payloadSize(of message: JSONValue) -> Int {
        let texts = ["notification", "data"].compactMap { message[$0]?.members }.joined().reduce(0) { size, member in
            size + member.key.utf8.count + (member.value.string?.utf8.count ?? 0)
        }
        let apple = message["apns"]?["payload"].map { $0.bytes.count } ?? 0
        return max(texts, apple)
    }

    /// Real tokens have 140 characters and more, installation ids 22. Shorter ones are let through down to 16 so that
    /// simulated devices can have readable names.
    private static func isToken(_ text: String) -> Bool {
        (16...4096).contains(text.utf8.count) && text.utf8.allSatisfy { isWordByte($0) || $0 == 0x3A }
    }

    private static func isTopic(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isWordByte($0) || [0x2E, 0x7E, 0x25].contains($0) }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }
}
