import ServiceKit

/// What is wrong with a score, where, and what to send instead.
package struct FeedError: Error, Sendable, Hashable, CustomStringConvertible {
    /// `missing_field`, `unknown_field`, `malformed_json` or `invalid`.
    package var code: String
    /// JSON pointer (RFC 6901); "" is the whole document.
    package var pointer: String
    package var detail: String

    package init(code: String = "invalid", pointer: String, detail: String) {
        self.code = code
        self.pointer = pointer
        self.detail = detail
    }

    init(code: String = "invalid", at path: [any CodingKey], _ detail: String) {
        self.init(code: code, pointer: FeedError.pointer(path), detail: detail)
    }

    static func pointer(_ path: [any CodingKey]) -> String {
        path.map { key in
            "/" + (key.intValue.map(String.init) ?? key.stringValue.jsonPointerToken)
        }.joined()
    }

    package var description: String { "\(pointer.isEmpty ? "the document" : pointer): \(detail)" }
}

extension FeedError {
    /// A decoder's own complaint, in our words.
    init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(let type, let context):
            self.init(at: context.codingPath, "Send \(FeedError.name(of: type)) here.")
        case .valueNotFound(let type, let context):
            self.init(at: context.codingPath, "Send \(FeedError.name(of: type)) here; this is null.")
        case .keyNotFound(let key, let context):
            self.init(code: "missing_field", at: context.codingPath + [key], "Add the field \"\(key.stringValue)\".")
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            self.init(code: "malformed_json", at: [], "The document is not JSON.")
        case .dataCorrupted(let context):
            self.init(at: context.codingPath, "This value cannot be read: \(context.debugDescription)")
        @unknown default:
            self.init(at: [], "The document cannot be read.")
        }
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Int.Type, is Int64.Type: "a whole number"
        case is Double.Type: "a number"
        case is Bool.Type: "true or false"
        case is [Any].Type: "an array"
        default: "\(type)".contains("Array") ? "an array" : "an object"
        }
    }
}
