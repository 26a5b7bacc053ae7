extension JSONValue {
    /// Canonical JSON: keys sorted by their bytes, no white space, so that equal values have equal text.
    package var text: String {
        String(decoding: bytes(), as: UTF8.self)
    }

    /// The bytes of `text`.
    ///
    /// - Parameter keys: members of the object that are left out.
    package func bytes(without keys: [String] = [], keepsNull: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        write(into: &bytes, without: keys, keepsNull: keepsNull)
        return bytes
    }

    func write(into bytes: inout [UInt8], without keys: [String] = [], keepsNull: Bool = true) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .number(let value): bytes += "\(value)".utf8
        case .string(let value): JSONValue.write(value, into: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            var isFirst = true
            for member in members where !keys.contains(member.key) && (keepsNull || !member.value.isNull) {
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                JSONValue.write(member.key, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    static func write(_ string: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { text in
            // Hardly any has something to escape.
            guard text.contains(where: isEscaped) else { return bytes.append(contentsOf: text) }
            let digits = Array("0123456789abcdef".utf8)
            for byte in text {
                switch byte {
                case UInt8(ascii: "\""): bytes += #"\""#.utf8
                case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
                case 0..<0x20: bytes += #"\u00"#.utf8 + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                default: bytes.append(byte)
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool { byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }
}
