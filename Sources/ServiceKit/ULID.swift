package import PushContract

/// A ULID (the specification at ulid/spec): 26 characters of Crockford's Base32, 48 bits of time in milliseconds and 80 random ones.
///
/// Those made later sort later, so they are inserted at the right edge of an index.
package enum ULID {
    /// Characters of one.
    package static let length = 26
    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    package static func make(at now: Timestamp) -> String {
        var random = SystemRandomNumberGenerator()
        return make(at: now, using: &random)
    }

    static func make(at now: Timestamp, using random: inout some RandomNumberGenerator) -> String {
        let time = UInt128(UInt64(clamping: now.milliseconds) & 0xFFFF_FFFF_FFFF)
        var value = time << 80 | UInt128(random.next() as UInt16) << 64 | UInt128(random.next() as UInt64)
        return String(unsafeUninitializedCapacity: length) { text in
            for index in (0..<length).reversed() {
                text[index] = digits[Int(truncatingIfNeeded: value & 31)]
                value >>= 5
            }
            return length
        }
    }
}
