import Foundation
import PushClient
import PushContract
import Synchronization
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
    static let names = [
        "answer.verdict", "attempt.id", "bell.state", "client.trace", "lifecycle.trace", "reason.map", "retry.schedule", "token.hash",
    ]

    private static let loaded = Mutex<[String: VectorFile]>([:])

    /// Decoded once: every vector is a test of its own.
    static func load(_ name: String) throws -> VectorFile {
        try loaded.withLock { loaded in
            if let file = loaded[name] { return file }
            let data = try Data(contentsOf: directory.appendingPathComponent(name + ".json"))
            let file = try JSONDecoder().decode(VectorFile.self, from: data)
            guard file.schema == "push-conformance/1", file.id == name, !file.vectors.isEmpty,
                Set(file.vectors.map(\.id)).count == file.vectors.count
            else { throw VectorFault(description: "\(name) is not a vector file of this schema, has no vectors, or an id is used twice") }
            loaded[name] = file
            return file
        }
    }

    /// The ids of its vectors, as arguments of a test: none would be a test that does not run.
    static func ids(_ name: String) -> [String] {
        guard let file = try? load(name) else { fatalError("the vectors of \(name) cannot be read") }
        return file.vectors.map(\.id)
    }
}

struct VectorFault: Error, CustomStringConvertible { var description: String }

/// Tokens of the vectors are letters.
enum VectorToken {
    /// The letter's ASCII code in hexadecimal, 32 times.
    static func raw(_ letter: String) -> String {
        String(repeating: letter.utf8.first.map { String($0, radix: 16) } ?? "00", count: 32)
    }

    static func hash(_ letter: String) -> TokenHash {
        guard let hash = try? TokenHash.apns(raw(letter)) else { fatalError("a synthetic token is not a token") }
        return hash
    }

    private static let letters = ["A", "B", "C", "S", "T", "U", "V"]

    static func letter(_ hash: TokenHash) -> String { letters.first { Self.hash($0) == hash } ?? "?" }

    /// A text with each raw token replaced by its letter, and each hash by `#` and the letter.
    static func named(_ text: String) -> String {
        letters.reduce(text) { $0.replacing(raw($1), with: $1).replacing(hash($1).rawValue, with: "#" + $1) }
    }
}

/// Operations of the vectors by their words.
enum VectorOperation {
    static func kind(_ word: String) throws -> OperationKind {
        switch word {
        case "register": .register
        case "unregister": .unregister()
        case "unregisterToken": .unregisterToken
        case "startToken": .startToken()
        case "activityToken": .activityToken(.match("m1"), instance: 1)
        case "pagerToken": .activityToken(.custom(attributesType: "Pager", activityId: "p1"), instance: nil)
        case "dismissal": .dismissal(.match("m1"), instance: 1, cause: .user)
        case "staleEnd": .dismissal(.match("m1"), instance: 1, cause: .stale)
        case "follow": .follow(.match("m1"))
        case "followHere": .follow(.match("m1"), startsHere: true)
        case "unfollow": .unfollow(.match("m1"))
        case "unfollowOther": .unfollow(.match("m2"))
        default: throw VectorFault(description: "unknown operation \(word)")
        }
    }
}

/// JSON as the vectors need it.
enum JSON: Codable, Hashable {
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

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// `key=value` of an object, by key.
    var line: String {
        guard case .object(let members) = self else { return "\(self)" }
        return members.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: " ")
    }

    private var text: String {
        switch self {
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .string(let value): value
        default: "?"
        }
    }
}
