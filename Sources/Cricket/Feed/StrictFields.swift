import PushContract
import ServiceKit

/// A part of a score: read from JSON, with its place for the error.
protocol FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError)
}

/// The members of one JSON object, taken one by one; a member that was not taken is an unknown field. An explicit null counts as absent.
struct StrictFields {
    /// Set for a whole document.
    @TaskLocal static var ignoresUnknown = false

    private let members: JSONMembers
    private let pointer: String
    private var asked: Set<String> = []

    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        guard let members = json.members else { throw FeedError(pointer: pointer, detail: "Send an object here.") }
        self.members = members
        self.pointer = pointer
    }

    mutating func optional<Value: FeedValue>(_ name: String, as type: Value.Type = Value.self) throws(FeedError) -> Value? {
        asked.insert(name)
        guard let json = members[name], json != .null else { return nil }
        return try Value(json, at: pointer(to: name))
    }

    mutating func required<Value: FeedValue>(_ name: String, as type: Value.Type = Value.self) throws(FeedError) -> Value {
        guard let value = try optional(name, as: type) else {
            throw fault(name, "Add the field \"\(name)\".", code: "missing_field")
        }
        return value
    }

    /// A whole number in a range.
    mutating func number(_ name: String, _ range: ClosedRange<Int>) throws(FeedError) -> Int? {
        guard let number = try optional(name, as: Int.self) else { return nil }
        guard range.contains(number) else {
            throw fault(name, "\"\(name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    mutating func requiredNumber(_ name: String, _ range: ClosedRange<Int>) throws(FeedError) -> Int {
        guard let number = try number(name, range) else { throw fault(name, "Add the field \"\(name)\".", code: "missing_field") }
        return number
    }

    /// A text for people: so many characters, none of them control characters.
    mutating func text(_ name: String, _ length: ClosedRange<Int>) throws(FeedError) -> String? {
        guard let text = try optional(name, as: String.self) else { return nil }
        guard length.contains(text.unicodeScalars.count) else {
            throw fault(name, "\"\(name)\" must have \(length.lowerBound) to \(length.upperBound) characters.")
        }
        guard !text.hasControlCharacter else {
            throw fault(name, "\"\(name)\" must not hold control characters.")
        }
        return text
    }

    mutating func requiredText(_ name: String, _ length: ClosedRange<Int>) throws(FeedError) -> String {
        guard let text = try text(name, length) else { throw fault(name, "Add the field \"\(name)\".", code: "missing_field") }
        return text
    }

    /// One of the cases of an enumeration of strings.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, of type: Choice.Type) throws(FeedError) -> Choice
    where Choice.RawValue == String {
        let text: String = try required(name)
        guard let choice = Choice(rawValue: text) else {
            throw fault(name, "\"\(name)\" must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return choice
    }

    /// Refuses what is left.
    func finish() throws(FeedError) {
        guard !StrictFields.ignoresUnknown, let unknown = members.keys.first(where: { !asked.contains($0) }) else { return }
        throw fault(
            unknown,
            "There is no field \"\(unknown.prefix(100))\" here. Remove it, or correct its name; known are \(asked.sorted().joined(separator: ", ")).",
            code: "unknown_field"
        )
    }

    func fault(_ name: String, _ detail: String, code: String = "invalid") -> FeedError {
        FeedError(code: code, pointer: pointer(to: name), detail: detail)
    }

    private func pointer(to name: String) -> String {
        pointer + "/" + name.jsonPointerToken
    }
}

extension String: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        guard let text = json.string else { throw FeedError(pointer: pointer, detail: "Send a string here.") }
        self = text
    }
}

extension Int64: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        guard let number = json.integer else { throw FeedError(pointer: pointer, detail: "Send a whole number here.") }
        self = number
    }
}

extension Int: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) { self = Int(try Int64(json, at: pointer)) }
}

extension Bool: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        guard let flag = json.bool else { throw FeedError(pointer: pointer, detail: "Send true or false here.") }
        self = flag
    }
}

extension Array: FeedValue where Element: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        guard let elements = json.elements else { throw FeedError(pointer: pointer, detail: "Send an array here.") }
        self = []
        for (index, element) in elements.enumerated() { append(try Element(element, at: "\(pointer)/\(index)")) }
    }
}
