/// A JSON value as it was written: keys in order and as often as they stood, integers apart from other numbers.
package indirect enum ReferenceJSON: Equatable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that 64 bits with a sign can hold.
    case integer(Int64)
    /// Any other number.
    case number
    case string(String)
    case array([ReferenceJSON])
    case object([(key: String, value: ReferenceJSON)])

    package static func == (left: ReferenceJSON, right: ReferenceJSON) -> Bool {
        switch (left, right) {
        case (.null, .null), (.number, .number): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a.count == b.count && zip(a, b).allSatisfy { $0.key == $1.key && $0.value == $1.value }
        default: false
        }
    }
}

/// A second reading of JSON (RFC 8259), independent of the one in the service: slow, plain, and as strict.
///
/// Stricter than the RFC in one point, as the contract is: containers may be nested 16 deep.
package struct ReferenceJSONReader {
    package struct Malformed: Error {
        package var reason: String
        package var offset: Int
    }

    static let deepest = 16

    private let bytes: [UInt8]
    private var place = 0
    /// Of the outermost array's elements, in order.
    private var elementBytes: [Int] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The one value that `bytes` hold, with white space around it and nothing else.
    package static func read(_ bytes: [UInt8]) throws(Malformed) -> ReferenceJSON { try measure(bytes).value }

    /// The same, and how many bytes each element takes where the value is an array.
    package static func measure(_ bytes: [UInt8]) throws(Malformed) -> (value: ReferenceJSON, elementBytes: [Int]) {
        var reader = ReferenceJSONReader(bytes)
        try reader.requireUTF8()
        reader.skipWhiteSpace()
        let value = try reader.value(depth: 0)
        reader.skipWhiteSpace()
        guard reader.place == bytes.count else { throw reader.malformed("something follows the value") }
        return (value, reader.elementBytes)
    }

    private func malformed(_ reason: String) -> Malformed { Malformed(reason: reason, offset: place) }

    /// By the standard library's own validation, before anything else: U+FFFD is put where a sequence is broken.
    private func requireUTF8() throws(Malformed) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw malformed("not UTF-8") }
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipWhiteSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { place += 1 }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let wanted = Array(text.description.utf8)
        guard bytes.count - place >= wanted.count, Array(bytes[place..<place + wanted.count]) == wanted else { return false }
        place += wanted.count
        return true
    }

    private mutating func value(depth: Int) throws(Malformed) -> ReferenceJSON {
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        default: break
        }
        if take("null") { return .null }
        if take("true") { return .bool(true) }
        if take("false") { return .bool(false) }
        return try number()
    }

    private mutating func array(depth: Int) throws(Malformed) -> ReferenceJSON {
        place += 1
        skipWhiteSpace()
        // An empty container holds nothing, so it is not yet a level.
        if take("]") { return .array([]) }
        guard depth <= Self.deepest else { throw malformed("nested too deep") }
        var elements: [ReferenceJSON] = []
        while true {
            skipWhiteSpace()
            let start = place
            elements.append(try value(depth: depth))
            if depth == 1 { elementBytes.append(place - start) }
            skipWhiteSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw malformed("neither , nor ]") }
        }
    }

    private mutating func object(depth: Int) throws(Malformed) -> ReferenceJSON {
        place += 1
        skipWhiteSpace()
        if take("}") { return .object([]) }
        guard depth <= Self.deepest else { throw malformed("nested too deep") }
        var fields: [(key: String, value: ReferenceJSON)] = []
        while true {
            skipWhiteSpace()
            guard next == UInt8(ascii: "\"") else { throw malformed("no key") }
            let key = try string()
            skipWhiteSpace()
            guard take(":") else { throw malformed("no colon") }
            skipWhiteSpace()
            fields.append((key, try value(depth: depth)))
            skipWhiteSpace()
            if take("}") { return .object(fields) }
            guard take(",") else { throw malformed("neither , nor }") }
        }
    }

    private mutating func number() throws(Malformed) -> ReferenceJSON {
        let start = place
        _ = take("-")
        let whole = digits()
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { throw malformed("not a value") }
        var isInteger = true
        if take(".") {
            isInteger = false
            guard !digits().isEmpty else { throw malformed("no digit after the point") }
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            guard !digits().isEmpty else { throw malformed("no digit in the exponent") }
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isInteger {
            if let integer = Int64(text) { return .integer(integer) }
        }
        return .number
    }

    private mutating func digits() -> ArraySlice<UInt8> {
        let start = place
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        return bytes[start..<place]
    }

    private mutating func string() throws(Malformed) -> String {
        place += 1
        var units: [UInt16] = []
        var plain: [UInt8] = []
        var text = ""
        // Escapes are gathered as UTF-16, the rest as UTF-8.
        func flush() throws(Malformed) {
            if !units.isEmpty {
                guard let piece = String(validating: units, as: UTF16.self) else { throw malformed("a lone surrogate") }
                text += piece
                units = []
            }
            if !plain.isEmpty {
                text += String(decoding: plain, as: UTF8.self)
                plain = []
            }
        }
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""):
                try flush()
                return text
            case UInt8(ascii: "\\"):
                if !plain.isEmpty { try flush() }
                units.append(try escape())
            case 0..<0x20:
                throw malformed("a control character in a string")
            default:
                if !units.isEmpty { try flush() }
                plain.append(byte)
            }
        }
        throw malformed("the string has no end")
    }

    private mutating func escape() throws(Malformed) -> UInt16 {
        guard let byte = next else { throw malformed("the string has no end") }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(byte)
        case UInt8(ascii: "b"): return 8
        case UInt8(ascii: "f"): return 12
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "u"):
            guard bytes.count - place >= 4 else { throw malformed("the escape is cut off") }
            let digits = bytes[place..<place + 4]
            guard digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit && $0 < 0x80 }),
                let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw malformed("not four hex digits") }
            place += 4
            return unit
        default: throw malformed("no such escape")
        }
    }
}
