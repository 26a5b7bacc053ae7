import Foundation
import HTTPServer
import ServiceKit

/// The state of an object before or after an action, as JSON. Never with a secret.
package struct AuditState: Sendable, Hashable {
    package let json: String

    /// Throws `EncodingError` for what JSON cannot express.
    package init(_ value: some Encodable) throws {
        json = String(decoding: try JSONEncoder.pushwatch.encode(value), as: UTF8.self)
    }

    /// As it is stored.
    package init(stored json: String) { self.json = json }

    /// Field by field; a value that is no object is one field without a name.
    fileprivate var fields: [String: String] {
        guard let value = try? JSONParser.read(Array(json.utf8)) else { return ["": json] }
        guard case .object(let members) = value else { return ["": value.plainText] }
        return members.compactMapValues(\.plainText)
    }
}

/// A field that an action changed.
package struct AuditChange: Sendable, Hashable {
    package let field: String
    /// Nil where there was none.
    package let before: String?
    /// Nil where there is none any more.
    package let after: String?

    /// The fields in which two states differ, in alphabetical order. A state that is nil has no fields.
    package static func between(_ before: AuditState?, _ after: AuditState?) -> [AuditChange] {
        let (old, new) = (before?.fields ?? [:], after?.fields ?? [:])
        return Set(old.keys).union(new.keys).sorted().compactMap { field in
            old[field] == new[field] ? nil : AuditChange(field: field, before: old[field], after: new[field])
        }
    }
}

extension JSONValue {
    /// As people read it: `a, b` for an array, `key: value, key: value` for an object, in parentheses where it is within another value.
    fileprivate var plainText: String {
        switch self {
        case .string(let text): text
        case .array(let elements): elements.isEmpty ? "empty" : elements.map(\.innerText).joined(separator: ", ")
        case .object(let members):
            members.isEmpty ? "empty" : members.map { "\($0.key): \($0.value.innerText)" }.joined(separator: ", ")
        default: text
        }
    }

    private var innerText: String {
        switch self {
        case .array, .object: "(\(plainText))"
        default: plainText
        }
    }
}
