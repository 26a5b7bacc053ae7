import HTTPServer
package import ServiceKit

/// A schema file that cannot be meant so: where and why.
package struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    package var pointer: String
    package var message: String

    package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }
}

extension ValueSchema {
    private static let silent: Set<String> = ["title", "description", "$schema", "$id", "$comment", "examples", "default"]

    /// Reads a schema. A keyword that is not understood is a fault: to ignore it would be to promise a check that is not made.
    package init(_ json: JSONValue, at pointer: String = "") throws(SchemaError) {
        guard case .object(let members) = json else { throw SchemaError(pointer: pointer, message: "a schema is an object") }
        var rules = Rules()
        for (keyword, value) in members where !ValueSchema.silent.contains(keyword) {
            try ValueSchema.read(keyword, value, into: &rules, at: "\(pointer)/\(keyword)")
        }
        rules.length = try ValueSchema.bounds("minLength", "maxLength", members, pointer)
        rules.count = try ValueSchema.bounds("minItems", "maxItems", members, pointer)
        rules.range = try ValueSchema.range(members, pointer)
        if let missing = rules.required.first(where: { rules.properties[$0] == nil }), !rules.isOpen {
            throw SchemaError(pointer: pointer, message: "\"\(missing)\" is required and not among the properties")
        }
        self = .rules(rules)
    }

    private static func read(_ keyword: String, _ value: JSONValue, into rules: inout Rules, at pointer: String) throws(SchemaError) {
        switch (keyword, value) {
        case ("type", .string(let name)): rules.kinds = [try kind(name, pointer)]
        case ("type", .array(let names)):
            var kinds: Set<Kind> = []
            for case .string(let name) in names { kinds.insert(try kind(name, pointer)) }
            rules.kinds = kinds
        case ("properties", .object(let properties)):
            for (name, schema) in properties { rules.properties[name] = try ValueSchema(schema, at: "\(pointer)/\(name)") }
        case ("required", .array(let names)):
            for case .string(let name) in names { rules.required.append(name) }
        case ("additionalProperties", .bool(let isOpen)): rules.isOpen = isOpen
        case ("items", .object): rules.items = try ValueSchema(value, at: pointer)
        case ("enum", .array(let choices)): rules.choices = choices
        case ("const", let choice): rules.choices = [choice]
        case ("minLength", .integer), ("maxLength", .integer), ("minItems", .integer), ("maxItems", .integer), ("minimum", _),
            ("maximum", _):
            break
        default:
            throw SchemaError(pointer: pointer, message: "this keyword, or its value, is not understood here (docs/live-activities.md)")
        }
    }

    private static func kind(_ name: String, _ pointer: String) throws(SchemaError) -> Kind {
        guard let kind = Kind(rawValue: name) else { throw SchemaError(pointer: pointer, message: "there is no type \"\(name)\"") }
        return kind
    }

    private static func bounds(
        _ low: String,
        _ high: String,
        _ members: JSONMembers,
        _ pointer: String
    ) throws(SchemaError) -> ClosedRange<Int>? {
        guard members[low] != nil || members[high] != nil else { return nil }
        var lower = 0
        var upper = Int.max
        if case .integer(let number)? = members[low] { lower = Int(number) }
        if case .integer(let number)? = members[high] { upper = Int(number) }
        guard lower >= 0, lower <= upper else { throw SchemaError(pointer: pointer, message: "\(low) is above \(high)") }
        return lower...upper
    }

    private static func range(_ members: JSONMembers, _ pointer: String) throws(SchemaError) -> ClosedRange<Double>? {
        guard members["minimum"] != nil || members["maximum"] != nil else { return nil }
        func number(_ name: String, else other: Double) throws(SchemaError) -> Double {
            switch members[name] {
            case nil: return other
            case .integer(let number)?: return Double(number)
            case .number(let number)?: return number
            default: throw SchemaError(pointer: "\(pointer)/\(name)", message: "this is not a number")
            }
        }
        let lower = try number("minimum", else: -.greatestFiniteMagnitude)
        let upper = try number("maximum", else: .greatestFiniteMagnitude)
        guard lower <= upper else { throw SchemaError(pointer: pointer, message: "minimum is above maximum") }
        return lower...upper
    }
}
