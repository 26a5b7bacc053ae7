import HTTPEdge

extension JSONValue {
    subscript(name: String) -> JSONValue? { members?[name] }

    var members: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// This value with `other` laid over it: objects member by member, anything else replaced.
    func overlaid(with other: JSONValue) -> JSONValue {
        guard let mine = members, let theirs = other.members else { return other }
        return .object(mine.merging(theirs) { $0.overlaid(with: $1) })
    }
}
