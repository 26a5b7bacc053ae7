import Crypto

/// The `apns-id` of a push: a UUID derived from what identifies the push, so that it can be found in Apple's console without a table.
package enum APNsMessageId {
    /// Lower-case UUID of version 8 (RFC 9562: custom content) from the SHA-256 of the id.
    package static func derive(from id: String) -> String {
        SHA256.hash(data: Array(id.utf8)).withUnsafeBytes { hash in
            String(unsafeUninitializedCapacity: 36) { text in
                var length = 0
                func append(_ byte: UInt8) {
                    text[length] = byte
                    length += 1
                }
                for (index, byte) in hash.prefix(16).enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 { append(UInt8(ascii: "-")) }
                    let byte =
                        switch index {
                        case 6: byte & 0x0F | 0x80
                        case 8: byte & 0x3F | 0x80
                        default: byte
                        }
                    append(digit(byte >> 4))
                    append(digit(byte & 15))
                }
                return length
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
}
