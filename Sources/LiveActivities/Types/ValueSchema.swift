import HTTPServer
import ServiceKit

/// What a JSON value has to look like: the part of JSON Schema (2020-12) that describes what apps decode.
///
/// `type` (one or a list), `properties`, `required`, `additionalProperties` (true or false, **false by default**: a member the app does
/// not know is a mistake), `items`, `enum`, `const`, `minLength`, `maxLength`, `minimum`, `maximum`, `minItems`, `maxItems`. `title`,
/// `description`, `$schema`, `$id`, `$comment`, `examples` and `default` say nothing about a value. Anything else is refused when it is
/// read.
package indirect enum ValueSchema: Sendable, Hashable {
    case rules(Rules)

    package struct Rules: Sendable, Hashable {
        var kinds: Set<Kind>?
        var properties: [String: ValueSchema] = [:]
        var required: [String] = []
        var isOpen = false
        var items: ValueSchema?
        var choices: [JSONValue]?
        var length: ClosedRange<Int>?
        var range: ClosedRange<Double>?
        var count: ClosedRange<Int>?
    }

    /// Of an object.
    var memberNames: Set<String> {
        switch self {
        case .rules(let rules): Set(rules.properties.keys)
        }
    }

    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case null, boolean, integer, number, string, array, object

        func accepts(_ value: JSONValue) -> Bool {
            switch (self, value) {
            case (.null, .null), (.boolean, .bool), (.integer, .integer), (.number, .integer), (.number, .number), (.string, .string),
                (.array, .array), (.object, .object):
                true
            default: false
            }
        }

        var name: String {
            switch self {
            case .integer: "a whole number"
            case .object: "an object"
            case .array: "an array"
            case .null: "null"
            default: "a \(rawValue)"
            }
        }
    }
}
