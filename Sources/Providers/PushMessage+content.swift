package import PushContract
package import ServiceKit

extension PushMessage {
    /// From the JSON text a send is stored as: `title`, `body`, `data`, `apns`, `fcm`, `pushType`, `priority`, `collapseId`,
    /// `validateOnly`, `payload` (a complete APNs payload as text, to be sent byte for byte); any may be absent.
    package init(content: String, expiresAt: Timestamp?) throws(PushError) {
        guard let json = try? JSONParser.read(Array(content.utf8)) else {
            throw PushError(field: "", code: "BadContent", "The content of the send is not JSON.")
        }
        try self.init(json: json, expiresAt: expiresAt)
    }

    /// From the members of a send; unknown ones are ignored.
    /// - Throws: `PushError` if a push type or a priority is unknown; the types of other members are checked when a send is accepted.
    package init(json: JSONValue, expiresAt: Timestamp?) throws(PushError) {
        self.init(
            title: json["title"]?.string,
            body: json["body"]?.string,
            data: json["data"]?.members ?? [:],
            apns: json["apns"]?.members ?? [:],
            fcm: json["fcm"]?.members ?? [:],
            pushType: try PushMessage.name(json["pushType"], field: "pushType") ?? .alert,
            priority: try PushMessage.name(json["priority"], field: "priority") ?? .high,
            collapseId: json["collapseId"]?.string,
            expiresAt: expiresAt,
            topic: json["topic"]?.string,
            sound: json["sound"]?.string,
            badge: json["badge"]?.integer.map(Int.init)
        )
        if case .bool(let flag)? = json["validateOnly"] { validateOnly = flag }
        if let text = json["payload"]?.string { payload = try EncodedPayload(Array(text.utf8), pushType: pushType) }
    }

    private static func name<Name: RawRepresentable & CaseIterable>(
        _ value: JSONValue?,
        field: String
    ) throws(PushError) -> Name? where Name.RawValue == String {
        guard let value, value != .null else { return nil }
        guard let name = value.string.flatMap(Name.init(rawValue:)) else {
            let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw PushError(field: field, code: "InvalidPushType", "\"\(field)\" must be one of \(known).")
        }
        return name
    }
}
