import HTTPServer
import ServiceKit

/// How subjects are named: a match by its matchId, anything else by `<attributesType>/<activityId>`.
enum SubjectName {
    /// Ids that stand in paths, collapse ids and request ids: 1–64 letters, digits, `.`, `_`, `-`, `:`.
    static func isId(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(isIdByte)
    }

    static func of(attributesType: String, activityId: String) -> String { "\(attributesType)/\(activityId)" }

    static func id(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> String {
        guard case .string(let text) = value, isId(text) else { throw field.invalid(rule(field.name)) }
        return text
    }

    static func check(_ text: String, _ name: String) throws(Problem) -> String {
        guard isId(text) else { throw .invalid(rule(name), pointer: nil) }
        return text
    }

    private static func rule(_ name: String) -> String { "\"\(name)\" is 1 to 64 letters, digits, dots, underscores, hyphens or colons." }

    private static func isIdByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}
