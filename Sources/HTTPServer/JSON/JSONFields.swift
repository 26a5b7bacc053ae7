package import ServiceKit

/// The members of one JSON object, taken one by one; what is left is an unknown field.
///
///     var fields = try JSONFields(value, at: "/0")
///     let app = try fields.required("app", JSONFields.string(1...200))
///     try fields.finish()
///
/// Every fault is a 422 `Problem` with the field's JSON pointer and what to send instead. An explicit null counts as absent.
package struct JSONFields {
    /// Pointer to the object itself; "" for the whole body.
    package let pointer: String
    private let members: JSONMembers
    private var asked: [String] = []
    private var found = 0

    package init(_ value: JSONValue, at pointer: String = "") throws(Problem) {
        guard case .object(let members) = value else {
            throw .invalid("Send an object here; this is \(value.kind).", pointer: pointer)
        }
        self.pointer = pointer
        self.members = members
        asked.reserveCapacity(24)
    }

    /// The member as it is; nil when absent or null.
    @usableFromInline
    package mutating func optional(_ name: String) -> JSONValue? {
        // All are found: the others are absent, and there is nothing unknown to say which are known.
        guard found < members.count else { return nil }
        assert(!asked.contains(name), "\(name) is asked for twice")
        asked.append(name)
        guard let value = members[name] else { return nil }
        found += 1
        if case .null = value { return nil }
        return value
    }

    /// - Parameter reader: made only if the member is there; most are not.
    @inlinable
    package mutating func optional<Value>(_ name: String, _ reader: @autoclosure () -> Reader<Value>) throws(Problem) -> Value? {
        guard let value = optional(name) else { return nil }
        return try reader()(value, field(name))
    }

    package mutating func required<Value>(
        _ name: String,
        _ read: (JSONValue, _ field: Field) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        guard let value = optional(name) else {
            throw .invalid("Add the field \"\(name)\".", code: "missing_field", pointer: field(name).pointer)
        }
        return try read(value, field(name))
    }

    /// Refuses what is left.
    package func finish() throws(Problem) {
        guard found < members.count, let unknown = members.keys.first(where: { !asked.contains($0) }) else { return }
        throw .invalid(
            "There is no field \"\(unknown.prefix(100))\" here. Remove it, or correct its name; known are \(asked.sorted().joined(separator: ", ")).",
            code: "unknown_field",
            pointer: field(unknown).pointer
        )
    }

    @usableFromInline
    package func field(_ name: String) -> Field {
        Field(name: name, token: name, parent: pointer)
    }

    /// A place in the body.
    package struct Field: Sendable {
        package var name: String
        /// Its key or index.
        let token: String
        /// Pointer to what it is in.
        let parent: String
        package var pointer: String { "\(parent)/\(token.jsonPointerToken)" }

        package func invalid(_ detail: String, code: String = "invalid") -> Problem { .invalid(detail, code: code, pointer: pointer) }
    }
}
