import PushContract
import ServiceKit

/// The JSON body of `messages:send`, with the parts of all platforms; FCM uses those of the token's platform.
enum FCMMessage {
    /// FCM stores a message for at most four weeks.
    static let longestLife: Int64 = 2_419_200

    /// - Parameter validateOnly: FCM checks the message and delivers nothing.
    static func bytes(_ message: PushMessage, to target: PushTarget, validateOnly: Bool = false, now: Timestamp) -> [UInt8] {
        if let payload = message.payload { return liveActivity(payload, message, to: target, validateOnly: validateOnly) }
        let address = JSONValue.object([target.address.rawValue: .string(target.token)])
        var request: JSONMembers = ["message": json(message, now: now).merged(with: address)]
        if validateOnly { request["validate_only"] = .bool(true) }
        return JSONValue.object(request).bytes()
    }

    /// Only the address, to be checked and not delivered.
    static func probe(_ target: PushTarget) -> [UInt8] {
        let message = JSONValue.object([target.address.rawValue: .string(target.token)])
        return JSONValue.object(["message": message, "validate_only": .bool(true)]).bytes()
    }

    /// Contains the payload byte for byte. FCM sets topic and push type itself.
    private static func liveActivity(
        _ payload: EncodedPayload,
        _ message: PushMessage,
        to target: PushTarget,
        validateOnly: Bool
    ) -> [UInt8] {
        let headers = apns(message)["headers"]?.text ?? "{}"
        let address = "\"\(target.address.rawValue)\":\(JSONValue.string(target.token).text)"
        let activity = JSONValue.string(target.liveActivityToken ?? "").text
        var text = validateOnly ? #"{"validate_only":true,"message":{"# : #"{"message":{"#
        text += #"\#(address),"apns":{"live_activity_token":\#(activity),"headers":\#(headers),"payload":"#
        return Array(text.utf8) + payload.bytes + Array("}}}".utf8)
    }

    /// The `message` without its target.
    static func json(_ message: PushMessage, now: Timestamp) -> JSONValue {
        var parts: JSONMembers = [:]
        var notification: JSONMembers = [:]
        notification["title"] = message.title.map(JSONValue.string)
        notification["body"] = message.body.map(JSONValue.string)
        if !notification.isEmpty { parts["notification"] = .object(notification) }
        if !message.data.isEmpty { parts["data"] = .object(message.data.mapValues { .string($0.string ?? $0.text) }) }
        parts["android"] = .object(android(message, now: now))
        parts["apns"] = .object(apns(message))
        parts["webpush"] = .object(["headers": .object(web(message, now: now))])
        return withoutNulls(JSONValue.object(parts).merged(with: .object(message.fcm)))
    }

    /// A null that a caller sends for a member takes the member away.
    private static func withoutNulls(_ json: JSONValue) -> JSONValue {
        guard let members = json.members else { return json }
        return .object(members.filter { $0.value != .null }.mapValues(withoutNulls))
    }

    /// Whole seconds until the message expires, within FCM's limits.
    static func timeToLive(_ message: PushMessage, now: Timestamp) -> Int64? {
        message.expiresAt.map { min(max(0, $0.seconds - now.seconds), longestLife) }
    }

    private static func android(_ message: PushMessage, now: Timestamp) -> JSONMembers {
        var android: JSONMembers = ["priority": .string(message.priority == .high ? "high" : "normal")]
        android["ttl"] = timeToLive(message, now: now).map { .string("\($0)s") }
        android["collapse_key"] = message.collapseId.map(JSONValue.string)
        if let sound = message.sound { android["notification"] = .object(["sound": .string(sound)]) }
        return android
    }

    private static func apns(_ message: PushMessage) -> JSONMembers {
        var headers: JSONMembers = ["apns-priority": .string(String(message.pushType.priority(message.priority)))]
        headers["apns-expiration"] = message.expiresAt.map { .string(String(max(0, $0.seconds))) }
        headers["apns-collapse-id"] = message.collapseId.map(JSONValue.string)
        if message.pushType == .background { headers["apns-push-type"] = .string("background") }
        var apns: JSONMembers = ["headers": .object(headers)]
        var aps = APNsPayload.aps(message)
        // FCM builds the alert from `notification`.
        aps["alert"] = nil
        if !aps.isEmpty { apns["payload"] = .object(["aps": .object(aps)]) }
        return apns
    }

    /// Headers of the web push protocol (RFC 8030). Without an expiry FCM sets its own TTL.
    private static func web(_ message: PushMessage, now: Timestamp) -> JSONMembers {
        let urgency =
            switch message.priority {
            case .high: "high"
            case .normal: "normal"
            case .low: "low"
            }
        var headers: JSONMembers = ["Urgency": .string(urgency)]
        headers["TTL"] = timeToLive(message, now: now).map { .string(String($0)) }
        if let id = message.collapseId, id.utf8.count <= 32, id.utf8.allSatisfy(isTopicByte) { headers["Topic"] = .string(id) }
        return headers
    }

    /// A web push topic is base64url text of 32 characters at most (RFC 8030, 5.4); other ids cannot collapse there.
    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }
}
