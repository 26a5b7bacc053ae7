extension String {
    /// Whether it contains a character of general category Cc: U+0000 to U+001F and U+007F to U+009F, the latter 32 in two bytes of UTF-8
    /// that begin with C2.
    package var hasControlCharacter: Bool {
        utf8.withContiguousStorageIfAvailable(String.haveControlCharacter)
            ?? Array(utf8).withUnsafeBufferPointer(String.haveControlCharacter)
    }

    private static func haveControlCharacter(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var previous: UInt8 = 0
        for byte in bytes {
            if byte < 0x20 || byte == 0x7F || (previous == 0xC2 && byte < 0xA0) { return true }
            previous = byte
        }
        return false
    }
}
