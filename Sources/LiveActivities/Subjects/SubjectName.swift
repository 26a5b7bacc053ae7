import HTTPServer
import ServiceKit

/// How subjects are named: a match by its matchId, anything else by `<attributesType>/<activityId>`.
enum SubjectName {
    static func of(attributesType: String, activityId: String) -> String { "\(attributesType)/\(activityId)" }

    static func id(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> String {
        guard case .string(let text) = value, text.isSubjectId else { throw field.invalid(rule(field.name)) }
        return text
    }

    static func check(_ text: String, _ name: String) throws(Problem) -> String {
        guard text.isSubjectId else { throw .invalid(rule(name), pointer: nil) }
        return text
    }

    private static func rule(_ name: String) -> String { "\"\(name)\" is 1 to 64 letters, digits, dots, underscores, hyphens or colons." }
}
