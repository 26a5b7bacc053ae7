import Crypto

/// The `apns-id` of an attempt: a UUID derived from the attempt's id, so that the two can be matched in Apple's console without a table.
enum APNsMessageId {
    /// Lower-case UUID of version 8 (RFC 9562: custom content) from the SHA-256 of the attempt's id.
    static func derive(from attemptId: String) -> String {
        var bytes = Array(SHA256.hash(data: Array(attemptId.utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
