/// Writes JSON with members in the given order and no white space: objects, strings, integers and booleans.
struct CanonicalJSON {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    mutating func object(_ body: (inout CanonicalJSON) -> Void) {
        open("{")
        body(&self)
        close("}")
    }

    mutating func nested(_ name: String, _ body: (inout CanonicalJSON) -> Void) {
        key(name)
        object(body)
    }

    mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        write(value)
    }

    mutating func member(_ name: String, _ value: Int?) {
        guard let value else { return }
        key(name)
        bytes += "\(value)".utf8
    }

    mutating func member(_ name: String, _ value: Bool?) {
        guard let value else { return }
        key(name)
        bytes += (value ? "true" : "false").utf8
    }

    /// An array of objects.
    mutating func members<Value>(_ name: String, _ values: [Value], _ body: (inout CanonicalJSON, Value) -> Void) {
        key(name)
        open("[")
        for value in values {
            separate()
            object { body(&$0, value) }
        }
        close("]")
    }

    mutating func strings(_ name: String, _ values: [String]) {
        key(name)
        open("[")
        for value in values {
            separate()
            write(value)
        }
        close("]")
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(bracket.value))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(bracket.value))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func key(_ name: String) {
        separate()
        write(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = true
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += "\\u00\(byte < 16 ? "0" : "1")\(String(byte & 15, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
