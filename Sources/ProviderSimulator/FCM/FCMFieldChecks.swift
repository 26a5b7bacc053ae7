import ServiceKit

/// Checks that Google's JSON front makes before FCM sees a request.
enum FCMFieldChecks {
    static func refuseUnknown(_ members: JSONMembers, known: Set<String>, at path: String) throws(FCMError) {
        guard let unknown = members.keys.first(where: { !known.contains($0) }) else { return }
        let location = path.isEmpty ? "" : " at '\(path)'"
        throw .unparsable(path, #"Invalid JSON payload received. Unknown name "\#(unknown)"\#(location): Cannot find field."#)
    }

    /// A map of strings to strings, absent allowed; a value of another type is named by its position in the map.
    static func stringMap(_ value: JSONValue?, at path: String) throws(FCMError) {
        guard let value else { return }
        guard let members = value.members else { throw .unparsable(path, "Invalid value at '\(path)'") }
        for (index, member) in members.enumerated() where member.value.string == nil {
            let field = "\(path)[\(index)].value"
            throw .unparsable(field, "Invalid value at '\(field)' (TYPE_STRING)")
        }
    }
}
