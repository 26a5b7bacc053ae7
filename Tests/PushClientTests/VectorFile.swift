import Foundation
import PushClient
import PushContract
import Testing

/// One of the conformance files that every platform runs.
struct VectorFile: Decodable {
    struct Vector: Decodable {
        var id: String
        var requires: [String]?
        var input: JSON
        var expect: JSON
    }

    var schema: String
    var id: String
    var requires: [String]
    var vectors: [Vector]

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let directory = root.appendingPathComponent("Tests/Vectors")
    static let names = ["attempt.id", "bell.state", "lifecycle.trace", "reason.map", "retry.schedule", "token.hash"]

    static func load(_ name: String) throws -> VectorFile {
        let data = try Data(contentsOf: directory.appendingPathComponent(name + ".json"))
        let file = try JSONDecoder().decode(VectorFile.self, from: data)
        guard file.schema == "push-conformance/1", file.id == name, Set(file.vectors.map(\.id)).count == file.vectors.count else {
            throw VectorFault(description: "\(name) is not a vector file of this schema, or an id is used twice")
        }
        return file
    }
}

struct VectorFault: Error, CustomStringConvertible { var description: String }

/// JSON as the vectors need it.
enum JSON: Decodable, Hashable {
    case null
    case bool(Bool)
    case int(Int)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    subscript(key: String) -> JSON? {
        guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
        return value
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var int: Int? { if case .int(let number) = self { number } else { nil } }
    var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var array: [JSON] { if case .array(let items) = self { items } else { [] } }
}
