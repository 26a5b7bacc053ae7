import HTTPServer
import Hummingbird
import ServiceKit

/// The query of a list.
struct SubjectPage {
    var after: [String]
    var limit: Int
    var userId: String?

    /// - Parameter ofUser: the list can be of one user.
    init(_ request: Request, cursorParts: Int, ofUser: Bool = false) throws(Problem) {
        let query = ofUser ? try request.query("after", "limit", "userId") : try request.query("after", "limit")
        after = Array(repeating: "", count: cursorParts)
        if let text = query["after"] {
            guard case .array(let parts)? = try? JSONParser.parse(Array(text.utf8)), parts.count == cursorParts else {
                throw SubjectPage.invalidCursor
            }
            after = parts.compactMap { part in if case .string(let text) = part { text } else { nil } }
            // As \u0000, which PostgreSQL stores in no text; %00 is refused with every target.
            let isText = after.allSatisfy { !$0.unicodeScalars.contains("\0") }
            guard after.count == cursorParts, isText else { throw SubjectPage.invalidCursor }
        }
        limit = try query.limit(standard: 200, maximum: 1000)
        userId = query["userId"].map(String.init)
    }

    static func cursor(_ parts: String...) -> String { JSONValue.array(parts.map { .string($0) }).text }

    static let invalidCursor = Problem.badRequest("`after` is the `next` of the page before.", code: "invalid_parameter")
}
