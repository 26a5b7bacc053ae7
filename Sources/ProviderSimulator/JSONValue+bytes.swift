import Foundation
package import ServiceKit

extension JSONValue {
    /// Reads JSON text; nil when the bytes are not JSON.
    package init?(bytes: [UInt8]) {
        guard let value = try? JSONParser.read(bytes) else { return nil }
        self = value
    }

    /// The JSON text, members sorted by name.
    package var bytes: [UInt8] { Array(text.utf8) }
}

/// A value as JSON, members sorted by name. The simulator's own values always encode; should one not, the text says so.
func encodedJSON(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return Array(#"{"error":"not encodable"}"#.utf8) }
    return Array(data)
}
