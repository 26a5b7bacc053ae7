/// Reads requests as RFC 9112 has them and no other: what could be read in two ways is an error. Shares no code with the service.
struct ReferenceFraming {
    struct Request {
        var method = ""
        var target = ""
        var host: String?
        var body: [UInt8] = []
        /// The input has all of it.
        var isComplete = true
    }

    struct Fault: Error, CustomStringConvertible {
        var description: String
        var isInBody = false
    }

    private enum Length {
        case fixed(Int)
        case chunked
    }

    private let input: [UInt8]
    private var place = 0

    init(_ input: [UInt8]) { self.input = input }

    mutating func next() throws(Fault) -> Request {
        // RFC 9112 §2.2: empty lines before a request are ignored.
        while place < input.count, input[place] == 0x0D || input[place] == 0x0A { place += 1 }
        var request = Request()
        // RFC 9112 §3 lets any number of spaces part the words.
        let words = String(decoding: try line(inBody: false), as: UTF8.self).split(separator: " ")
        guard words.count == 3, ["HTTP/1.0", "HTTP/1.1"].contains(words[2]), !words[0].isEmpty, !words[1].isEmpty else {
            throw Fault(description: "no request line: \(words)")
        }
        request.method = String(words[0])
        request.target = String(words[1])
        let fields = try fields(inBody: false)
        request.host = fields.first { $0.name == "host" }?.value
        switch try length(fields, version: words[2]) {
        case .fixed(let count): take(count, &request)
        case .chunked: try chunks(&request)
        }
        return request
    }

    private func length(_ fields: [(name: String, value: String)], version: Substring) throws(Fault) -> Length {
        let codings = fields.filter { $0.name == "transfer-encoding" }.map(\.value)
        let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
        guard codings.isEmpty || lengths.isEmpty else { throw Fault(description: "a length and a coding") }
        if let coding = codings.first {
            guard codings.count == 1, coding.lowercased() == "chunked", version == "HTTP/1.1" else {
                throw Fault(description: "the codings \(codings)")
            }
            return .chunked
        }
        guard let text = lengths.first else { return .fixed(0) }
        guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text) else {
            throw Fault(description: "the lengths \(lengths)")
        }
        return .fixed(count)
    }

    private mutating func take(_ count: Int, _ request: inout Request) {
        let available = min(count, input.count - place)
        request.body += input[place..<place + available]
        place += available
        if available < count { request.isComplete = false }
    }

    private mutating func chunks(_ request: inout Request) throws(Fault) {
        while true {
            guard let line = try optionalLine() else { return request.isComplete = false }
            let digits = line.prefix { $0 != 0x3B }
            guard (1...16).contains(digits.count), digits.allSatisfy(Self.isHexDigit),
                let count = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw Fault(description: "no chunk size: \(String(decoding: line, as: UTF8.self))", isInBody: true) }
            guard count > 0 else { break }
            take(count, &request)
            guard request.isComplete else { return }
            guard let end = try optionalLine() else { return request.isComplete = false }
            guard end.isEmpty else { throw Fault(description: "no line end behind a chunk", isInBody: true) }
        }
        guard hasBlankLine else { return request.isComplete = false }
        _ = try fields(inBody: true)
    }

    /// Whether trailers, if any, have an end.
    private var hasBlankLine: Bool {
        var rest = input[place...]
        guard !rest.starts(with: [0x0D, 0x0A]) else { return true }
        while rest.count >= 4 {
            if rest.starts(with: [0x0D, 0x0A, 0x0D, 0x0A]) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private mutating func fields(inBody: Bool) throws(Fault) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        while true {
            let line = try line(inBody: inBody)
            guard !line.isEmpty else { return fields }
            guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex, line[..<colon].allSatisfy(Self.isTokenCharacter) else {
                throw Fault(description: "no field: \(String(decoding: line, as: UTF8.self))", isInBody: inBody)
            }
            let value = line[(colon + 1)...].drop(while: Self.isBlank).reversed().drop(while: Self.isBlank).reversed()
            fields.append((String(decoding: line[..<colon], as: UTF8.self).lowercased(), String(decoding: Array(value), as: UTF8.self)))
        }
    }

    private mutating func line(inBody: Bool) throws(Fault) -> ArraySlice<UInt8> {
        guard let line = try optionalLine(inBody: inBody) else { throw Fault(description: "a line without an end", isInBody: inBody) }
        return line
    }

    /// Up to CR LF. Nil: the input ends before.
    private mutating func optionalLine(inBody: Bool = true) throws(Fault) -> ArraySlice<UInt8>? {
        guard let end = input[place...].firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else { return nil }
        guard input[end] == 0x0D else { throw Fault(description: "a line feed alone", isInBody: inBody) }
        guard end + 1 < input.count else { return nil }
        guard input[end + 1] == 0x0A else { throw Fault(description: "a carriage return alone", isInBody: inBody) }
        let line = input[place..<end]
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw Fault(description: "a control character", isInBody: inBody)
        }
        place = end + 2
        return line
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
