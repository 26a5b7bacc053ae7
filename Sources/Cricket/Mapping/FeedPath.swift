import ServiceKit

/// Where a value is in a vendor's answer: a JSON pointer (RFC 6901) from the element at hand, or with `^` before it from the match.
struct FeedPath: Sendable, Hashable {
    private var isFromMatch: Bool
    private var names: [String]

    /// Nil for anything but `/a/0/b`, `^/a` and `^`.
    init?(_ text: String) {
        isFromMatch = text.hasPrefix("^")
        let pointer = isFromMatch ? text.dropFirst() : text[...]
        guard pointer.isEmpty ? isFromMatch : pointer.hasPrefix("/") else { return nil }
        names = pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            .map { String($0).replacing("~1", with: "/").replacing("~0", with: "~") }
    }

    /// A location in an answer, and what is there; nil where nothing is, or null.
    struct Location: Sendable {
        var pointer: String
        var value: JSONValue?
    }

    func location(from element: Location, in match: Location) -> Location {
        names.reduce(isFromMatch ? match : element) { $0.member($1) }
    }
}

extension FeedPath.Location {
    func member(_ name: String) -> FeedPath.Location {
        let pointer = pointer + "/" + name.jsonPointerToken
        let found: JSONValue?
        switch value {
        case .object(let members): found = members[name]
        case .array(let elements): found = Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        default: found = nil
        }
        return FeedPath.Location(pointer: pointer, value: found == .null ? nil : found)
    }

    /// The elements of an array; nil for anything else.
    var elements: [FeedPath.Location]? {
        value?.elements?.indices.map { member("\($0)") }
    }
}
