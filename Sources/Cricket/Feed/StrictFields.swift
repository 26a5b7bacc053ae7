/// The members of one JSON object, taken one by one; a member that was not taken is an unknown field. An explicit null counts as absent.
struct StrictFields {
    struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let container: KeyedDecodingContainer<Name>
    private var asked: Set<String> = []

    init(_ decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: Name.self)
    }

    mutating func optional<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
        asked.insert(name)
        return try container.decodeIfPresent(type, forKey: Name(stringValue: name))
    }

    mutating func required<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        guard let value = try optional(name, as: type) else {
            throw fault(name, "Add the field \"\(name)\".", code: "missing_field")
        }
        return value
    }

    /// A whole number in a range.
    mutating func number(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let number = try optional(name, as: Int.self) else { return nil }
        guard range.contains(number) else {
            throw fault(name, "\"\(name)\" is a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    mutating func requiredNumber(_ name: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = try number(name, range) else { throw fault(name, "Add the field \"\(name)\".", code: "missing_field") }
        return number
    }

    /// A text for people: so many characters, none of them control characters.
    mutating func text(_ name: String, _ length: ClosedRange<Int>) throws -> String? {
        guard let text = try optional(name, as: String.self) else { return nil }
        guard length.contains(text.unicodeScalars.count) else {
            throw fault(name, "\"\(name)\" has \(length.lowerBound) to \(length.upperBound) characters.")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw fault(name, "\"\(name)\" must not hold control characters.")
        }
        return text
    }

    mutating func requiredText(_ name: String, _ length: ClosedRange<Int>) throws -> String {
        guard let text = try text(name, length) else { throw fault(name, "Add the field \"\(name)\".", code: "missing_field") }
        return text
    }

    /// One of the cases of an enumeration of strings.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, of type: Choice.Type) throws -> Choice
    where Choice.RawValue == String {
        let text: String = try required(name)
        guard let choice = Choice(rawValue: text) else {
            throw fault(name, "\"\(name)\" is one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return choice
    }

    /// Refuses what is left.
    func finish() throws {
        guard let unknown = container.allKeys.map(\.stringValue).filter({ !asked.contains($0) }).min() else { return }
        throw fault(
            unknown,
            "There is no field \"\(unknown.prefix(100))\" here. Remove it, or correct its name; known are \(asked.sorted().joined(separator: ", ")).",
            code: "unknown_field"
        )
    }

    func fault(_ name: String, _ detail: String, code: String = "invalid") -> FeedError {
        FeedError(code: code, at: container.codingPath + [Name(stringValue: name)], detail)
    }
}
