/// Text in seven bits and lines of at most 76 characters (RFC 2045 §6.7).
enum QuotedPrintable {
    /// Line breaks of the text become CRLF; what remains readable stays readable.
    static func encode(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line($0) }.joined(separator: "\r\n")
    }

    private static func line(_ text: Substring) -> String {
        var result = ""
        var length = 0
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            let isLast = index == bytes.count - 1
            let piece = isPlain(byte, isLast: isLast) ? String(UnicodeScalar(byte)) : hex(byte)
            // One place is the soft break's own.
            if length + piece.count > 75 {
                result += "=\r\n"
                length = 0
            }
            result += piece
            length += piece.count
        }
        return result
    }

    /// Spaces at the end of a line would be lost on the way.
    private static func isPlain(_ byte: UInt8, isLast: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "="): false
        case UInt8(ascii: " "), UInt8(ascii: "\t"): !isLast
        default: byte > 32 && byte < 127
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "=" + (digits.count == 1 ? "0" : "") + digits
    }
}
