import Foundation
import HTTPServer
import ServiceKit

extension JSONValue {
    /// Reads JSON text; nil when the bytes are not JSON.
    package init?(bytes: [UInt8]) {
        guard let value = try? JSONText.parse(bytes) else { return nil }
        self.init(value)
    }

    private init(_ value: ServiceKit.JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .integer(let number): self = .number(Double(number))
        case .number(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .array(let items): self = .array(items.map(JSONValue.init))
        case .object(let members): self = .object(members.mapValues(JSONValue.init))
        }
    }

    /// The JSON text, members sorted by name.
    package var bytes: [UInt8] {
        encodedJSON(self)
    }
}

/// A value as JSON, members sorted by name. The simulator's own values always encode; should one not, the text says so.
func encodedJSON(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return Array(#"{"error":"not encodable"}"#.utf8) }
    return Array(data)
}
