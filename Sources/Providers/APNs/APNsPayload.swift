import ServiceKit

/// The JSON body of an APNs request.
enum APNsPayload {
    /// `aps` from the message's own fields, its data next to it, both overridden by its `apns` members.
    static func json(_ message: PushMessage) -> JSONValue {
        var payload = message.data
        payload["aps"] = .object(aps(message))
        return message.apns.isEmpty ? .object(payload) : JSONValue.object(payload).merged(with: .object(message.apns))
    }

    static func aps(_ message: PushMessage) -> JSONMembers {
        var aps = JSONMembers(minimumCapacity: 3)
        var alert = JSONMembers(minimumCapacity: 2)
        alert["title"] = message.title.map(JSONValue.string)
        alert["body"] = message.body.map(JSONValue.string)
        if !alert.isEmpty { aps["alert"] = .object(alert) }
        aps["sound"] = message.sound.map(JSONValue.string)
        aps["badge"] = message.badge.map { .integer(Int64($0)) }
        switch message.pushType {
        case .background: aps["content-available"] = .integer(1)
        case .widgets, .controls: aps["content-changed"] = .bool(true)
        default: break
        }
        return aps
    }
}
