import NIOHTTP1

extension ProtocolFault {
    /// The fault of a head that the decoder accepted; nil when there is none.
    init?(_ head: HTTPRequestHead) {
        if head.uri.utf8.count > Self.longestTarget {
            self = .targetTooLong
        } else if !Self.isHostValid(head) {
            self = .host
        } else if let fault = Self.lengthFault(head) {
            self = fault
        } else if head.version == .http1_1, let expectation = head.headers.first(name: "expect"), expectation.lowercased() != "100-continue"
        {
            self = .expectation
        } else {
            return nil
        }
    }

    /// What the decoder could not read.
    init(_ error: HTTPParserError, in line: RequestLine) {
        self =
            switch error {
            case .headerOverflow: line.length > Self.longestTarget ? .targetTooLong : .headersTooLarge
            case .invalidMethod: Self.isMethod(line.beginning) ? .method : .malformed
            case .invalidVersion: Self.hasOtherVersion(line.beginning) ? .version : .malformed
            case .invalidContentLength, .unexpectedContentLength: .ambiguousLength
            default: .malformed
            }
    }

    /// RFC 9112 §3.2: exactly one, with `uri-host [":" port]`; HTTP/1.0 may leave it out.
    private static func isHostValid(_ head: HTTPRequestHead) -> Bool {
        let values = head.headers["host"]
        guard let value = values.first else { return head.version != .http1_1 }
        return values.count == 1 && isAuthority(Array(value.utf8)[...])
    }

    /// By bytes: a regular expression is compiled anew each time, which takes longer than all else that a small request needs.
    private static func isAuthority(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        if rest.first == UInt8(ascii: "[") {
            let address = rest.dropFirst().prefix { isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
            rest = rest[address.endIndex...]
            guard !address.isEmpty, rest.popFirst() == UInt8(ascii: "]") else { return false }
        } else {
            let name = rest.prefix(while: isNameByte)
            guard !name.isEmpty else { return false }
            rest = rest[name.endIndex...]
        }
        guard let colon = rest.popFirst() else { return true }
        return colon == UInt8(ascii: ":") && rest.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// Of a `reg-name` or an IPv4 address (RFC 3986 §3.2.2).
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: nameMarks.contains(byte)
        }
    }

    private static let nameMarks = Array("-._~%!$&'()*+,;=".utf8)

    /// RFC 9112 §6.1 and §6.3. A list of codings that does not end in `chunked` has no end that both sides agree on.
    private static func lengthFault(_ head: HTTPRequestHead) -> ProtocolFault? {
        let values = head.headers["transfer-encoding"]
        guard !values.isEmpty else { return nil }
        let list = values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { $0.trimmingPrefix(while: isBlank).reversed().drop(while: isBlank).reversed() }
            .map { String($0).lowercased() }
        if head.version != .http1_1 || list.last != "chunked" || head.headers.contains(name: "content-length") {
            return .ambiguousLength
        }
        return list.count == 1 ? nil : .transferCoding
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// True for a token (RFC 9110 §9.1), as opposed to bytes of another protocol. The decoder may refuse it at its first byte, before the
    /// rest arrived.
    private static func isMethod(_ line: [UInt8]) -> Bool {
        let name = line.prefix { $0 != 0x20 }
        return !name.isEmpty
            && name.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
    }

    /// True for a version of HTTP other than 1, as opposed to what is none.
    private static func hasOtherVersion(_ line: [UInt8]) -> Bool {
        String(decoding: line, as: UTF8.self).firstMatch(of: /\ HTTP\/(?!1\.)[0-9]\.[0-9]$/) != nil
    }
}
