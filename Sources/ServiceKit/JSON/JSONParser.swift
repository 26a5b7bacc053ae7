/// Reads JSON text (RFC 8259) strictly: no duplicate keys, no NUL, valid UTF-8, at most 16 levels, nothing after the value.
///
/// For bodies that are not hot; attempts have a reader of their own.
package struct JSONParser {
    static let maximumDepth = 16

    private let bytes: [UInt8]
    private let keepsInfinity: Bool
    private var position = 0
    private var depth = 0
    /// By depth: how many members the object before had. Those of one array mostly have as many.
    private var sizes = Array(repeating: 0, count: maximumDepth + 1)

    /// The first thing that is wrong, in words.
    package struct Fault: Error {
        /// Counted from 0.
        package var byte: Int
        package var what: String
        /// What precedes it is a whole value.
        package var isAfterValue = false
    }

    /// Where and why the text cannot be read; nil when it can be.
    package static func fault(in bytes: [UInt8]) -> Fault? {
        do {
            _ = try read(bytes)
            return nil
        } catch {
            return error
        }
    }

    /// The value of the whole text.
    ///
    /// - Parameter keepsInfinity: a number beyond a double, which is valid JSON, is read as infinity instead of a fault of the whole text;
    ///   who asks for it must refuse what has one (`JSONValue.hasInfinity`).
    package static func read(_ bytes: [UInt8], keepsInfinity: Bool = false) throws(Fault) -> JSONValue {
        var text = JSONParser(bytes: bytes, keepsInfinity: keepsInfinity)
        let value = try text.value()
        text.skipSpace()
        guard text.position == bytes.count else {
            var fault = text.fault("there is something after the end of the value")
            fault.isAfterValue = true
            throw fault
        }
        return value
    }

    private init(bytes: [UInt8], keepsInfinity: Bool) {
        self.bytes = bytes
        self.keepsInfinity = keepsInfinity
    }

    private func fault(_ what: String) -> Fault { Fault(byte: position, what: what) }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(character.value) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(Fault) -> JSONValue {
        skipSpace()
        guard position < bytes.count else { throw fault("a value is missing") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try nested { text throws(Fault) in try text.object() }
        case UInt8(ascii: "["): return try nested { text throws(Fault) in try text.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func nested(_ body: (inout JSONParser) throws(Fault) -> JSONValue) throws(Fault) -> JSONValue {
        guard depth < JSONParser.maximumDepth else { throw fault("the nesting is deeper than \(JSONParser.maximumDepth) levels") }
        depth += 1
        position += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws(Fault) -> JSONValue {
        skipSpace()
        if take("}") { return .object([:]) }
        var members: [JSONMembers.Element] = []
        members.reserveCapacity(sizes[depth])
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw fault("a key in quotes is missing") }
            let key = try string()
            skipSpace()
            guard take(":") else { throw fault("a colon is missing") }
            let member = try value()
            members.append((key, member))
            skipSpace()
            if take("}") {
                sizes[depth] = members.count
                do {
                    return .object(try JSONMembers(anyOrder: members))
                } catch {
                    throw fault("the key \"\(error.key.prefix(100))\" occurs twice")
                }
            }
            guard take(",") else { throw fault("a comma or } is missing") }
        }
    }

    private mutating func array() throws(Fault) -> JSONValue {
        var values: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(values) }
        while true {
            values.append(try value())
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw fault("a comma or ] is missing") }
        }
    }

    private mutating func literal(_ text: String, _ value: JSONValue) throws(Fault) -> JSONValue {
        guard bytes[position...].starts(with: text.utf8) else { throw fault("there is no JSON value") }
        position += text.utf8.count
        return value
    }

    private mutating func number() throws(Fault) -> JSONValue {
        let start = position
        _ = take("-")
        let first = position
        guard digits() else {
            position = start
            throw fault("there is no JSON value")
        }
        guard bytes[first] != UInt8(ascii: "0") || position == first + 1 else { throw fault("a number starts with a zero too many") }
        var isInteger = true
        if take(".") {
            isInteger = false
            guard digits() else { throw fault("a digit is missing after the decimal point") }
        }
        if take("e") || take("E") {
            isInteger = false
            _ = take("+") || take("-")
            guard digits() else { throw fault("a digit is missing in the exponent") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite || keepsInfinity else { throw fault("the number is too large") }
        return .number(number)
    }

    /// False when there is none.
    private mutating func digits() -> Bool {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        return position > start
    }

    private mutating func string() throws(Fault) -> String {
        position += 1
        if let string = plainString() { return string }
        var content: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: content, as: UTF8.self) else { throw fault("a string is not valid UTF-8") }
                position += 1
                return string
            case UInt8(ascii: "\\"): try escape(into: &content)
            case 0..<0x20: throw fault("unescaped control character in a string; write it as \\u00XX")
            default:
                content.append(byte)
                position += 1
            }
        }
        throw fault("a string does not end")
    }

    /// A string of ASCII without escapes, as most are, is made at once; nil for any other, of which nothing is taken.
    private mutating func plainString() -> String? {
        let string: String? = bytes.withUnsafeBufferPointer { bytes in
            var end = position
            while end < bytes.count, (0x20..<0x80).contains(bytes[end]), bytes[end] != UInt8(ascii: "\\") {
                if bytes[end] == UInt8(ascii: "\"") {
                    return String(decoding: UnsafeBufferPointer(rebasing: bytes[position..<end]), as: UTF8.self)
                }
                end += 1
            }
            return nil
        }
        if let string { position += string.utf8.count + 1 }
        return string
    }

    private mutating func escape(into content: inout [UInt8]) throws(Fault) {
        guard position + 1 < bytes.count else { throw fault("a string does not end") }
        let kind = bytes[position + 1]
        if kind == UInt8(ascii: "u") {
            content += String(try unicodeEscape()).utf8
            return
        }
        let character: UInt8
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): character = kind
        case UInt8(ascii: "b"): character = 0x08
        case UInt8(ascii: "f"): character = 0x0C
        case UInt8(ascii: "n"): character = 0x0A
        case UInt8(ascii: "r"): character = 0x0D
        case UInt8(ascii: "t"): character = 0x09
        default: throw fault("there is an unknown escape")
        }
        content.append(character)
        position += 2
    }

    /// `\u` and four hexadecimal digits, or a pair of surrogates.
    private mutating func unicodeEscape() throws(Fault) -> Unicode.Scalar {
        let high = try unicodeUnit()
        guard high != 0 else { throw fault("a string contains NUL") }
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        else { throw fault("unpaired surrogate in a string") }
        let low = try unicodeUnit()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw fault("unpaired surrogate in a string") }
        return scalar
    }

    private mutating func unicodeUnit() throws(Fault) -> UInt32 {
        let digits = bytes[min(position + 2, bytes.count)..<min(position + 6, bytes.count)]
        let isHex = digits.count == 4 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }
        guard isHex, let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw fault("\\u needs four hexadecimal digits")
        }
        position += 6
        return unit
    }
}
