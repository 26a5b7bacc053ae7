import HTTPServer
import ServiceKit

/// Finds the place of a syntax error that simdjson reports without one.
///
/// A second, slow reading; only of what is refused, and of a bounded length.
enum JSONErrorLocation {
    /// Longer texts are not read again.
    static let longest = 1 << 20

    /// - Parameters:
    ///   - reason: simdjson's, for faults that the second reading does not see.
    ///   - isLine: it is one line of NDJSON.
    static func describe(_ text: UnsafeRawBufferPointer, otherwise reason: String, isLine: Bool) -> String {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { return "it begins with a byte order mark; send UTF-8 without one" }
        if text.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) { return "it is empty" }
        guard text.count <= longest, let fault = JSONParser.fault(in: Array(text)) else { return reason }
        if fault.isAfterValue, text[fault.byte] == UInt8(ascii: "{"), !isLine {
            return "at byte \(fault.byte), another value follows the first; send several as an array, or one a line as application/x-ndjson"
        }
        return "at byte \(fault.byte), \(fault.what)"
    }
}
