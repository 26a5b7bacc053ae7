import PushContract
package import ServiceKit

/// Readers for `required` and `optional`.
///
/// Those of strings are inlined into their callers, where they need no allocations: each send has several.
extension JSONFields {
    package typealias Reader<Value> = (JSONValue, Field) throws(Problem) -> Value

    /// A string of so many characters, without control characters.
    @inlinable
    package static func string(_ length: ClosedRange<Int>) -> Reader<String> {
        { value, field throws(Problem) in try readString(value, field, length) }
    }

    @usableFromInline
    package static func readString(_ value: JSONValue, _ field: Field, _ length: ClosedRange<Int>) throws(Problem) -> String {
        let string = try readText(value, field, length)
        guard !string.hasControlCharacter else { throw field.invalid("\"\(field.name)\" must not contain control characters.") }
        return string
    }

    /// A text: like a string, and may have line breaks and tabs.
    @inlinable
    package static func text(_ length: ClosedRange<Int>) -> Reader<String> {
        { value, field throws(Problem) in try readText(value, field, length) }
    }

    @usableFromInline
    package static func readText(_ value: JSONValue, _ field: Field, _ length: ClosedRange<Int>) throws(Problem) -> String {
        guard case .string(let string) = value else { throw field.invalid("\"\(field.name)\" must be a string; this is \(value.kind).") }
        guard hasLength(string, length) else {
            throw field.invalid("\"\(field.name)\" must have \(length.lowerBound) to \(length.upperBound) characters.")
        }
        return string
    }

    /// A string has no more characters than bytes, which need not be counted.
    private static func hasLength(_ string: String, _ length: ClosedRange<Int>) -> Bool {
        length.lowerBound <= 1 && length.contains(string.utf8.count) || length.contains(string.unicodeScalars.count)
    }

    /// 1–200 visible ASCII characters.
    package static func identifier(_ value: JSONValue, _ field: Field) throws(Problem) -> String {
        guard case .string(let string) = value, (1...200).contains(string.utf8.count),
            string.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw field.invalid("\"\(field.name)\" must be 1 to 200 visible ASCII characters, without spaces.") }
        return string
    }

    package static func bool(_ value: JSONValue, _ field: Field) throws(Problem) -> Bool {
        guard case .bool(let bool) = value else { throw field.invalid("\"\(field.name)\" must be true or false; this is \(value.kind).") }
        return bool
    }

    package static func integer(_ range: ClosedRange<Int64>) -> Reader<Int64> {
        { value, field throws(Problem) in
            guard case .integer(let integer) = value, range.contains(integer) else {
                throw field.invalid("\"\(field.name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).")
            }
            return integer
        }
    }

    package static func number(_ range: ClosedRange<Double>) -> Reader<Double> {
        { value, field throws(Problem) in
            let number: Double? =
                switch value {
                case .integer(let integer): Double(integer)
                case .number(let number): number
                default: nil
                }
            guard let number, range.contains(number) else {
                throw field.invalid(
                    "\"\(field.name)\" must be a number from \(range.lowerBound.shortText) to \(range.upperBound.shortText)."
                )
            }
            return number
        }
    }

    package static func object(_ value: JSONValue, _ field: Field) throws(Problem) -> JSONMembers {
        guard case .object(let members) = value else { throw field.invalid("\"\(field.name)\" must be an object; this is \(value.kind).") }
        return members
    }

    /// An array of so many elements, each read by `element`; a fault names its element.
    package static func list<Value>(of element: @escaping Reader<Value>, _ count: ClosedRange<Int>) -> Reader<[Value]> {
        { value, field throws(Problem) in
            guard case .array(let elements) = value else {
                throw field.invalid("\"\(field.name)\" must be an array; this is \(value.kind).")
            }
            guard count.contains(elements.count) else {
                throw field.invalid(
                    "\"\(field.name)\" must have \(count.lowerBound) to \(count.upperBound) elements; this one has \(elements.count)."
                )
            }
            var values: [Value] = []
            values.reserveCapacity(elements.count)
            let pointer = field.pointer
            for (index, value) in elements.enumerated() {
                values.append(try element(value, Field(name: "\(field.name)[\(index)]", token: "\(index)", parent: pointer)))
            }
            return values
        }
    }

    /// One of the cases of an enumeration of strings.
    package static func oneOf<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> Reader<Choice>
    where Choice.RawValue == String {
        { value, field throws(Problem) in
            guard case .string(let string) = value, let choice = Choice(rawValue: string) else {
                let list = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw field.invalid("\"\(field.name)\" must be one of \(list).")
            }
            return choice
        }
    }
}
