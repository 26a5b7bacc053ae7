extension JSONValue {
    package subscript(name: String) -> JSONValue? { members?[name] }

    package var members: JSONMembers? {
        if case .object(let members) = self { members } else { nil }
    }

    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var isNull: Bool {
        if case .null = self { true } else { false }
    }

    package var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// True when a number in it is beyond a double (see `JSONParser.read`).
    package var hasInfinity: Bool {
        switch self {
        case .number(let value): value.isInfinite
        case .array(let values): values.contains(where: \.hasInfinity)
        case .object(let members): members.values.contains(where: \.hasInfinity)
        default: false
        }
    }

    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// This value with `other` laid over it: objects member by member, anything else replaced.
    package func merged(with other: JSONValue) -> JSONValue {
        guard let left = members, let right = other.members else { return other }
        return .object(left.merging(right) { $0.merged(with: $1) })
    }
}
