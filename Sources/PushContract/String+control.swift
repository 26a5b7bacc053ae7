extension String {
    /// Has a character of general category Cc: U+0000 to U+001F and U+007F to U+009F, the latter 32 in two bytes of UTF-8 that begin with C2.
    package var hasControlCharacter: Bool {
        var previous: UInt8 = 0
        for byte in utf8 {
            if byte < 0x20 || byte == 0x7F || (previous == 0xC2 && byte < 0xA0) { return true }
            previous = byte
        }
        return false
    }
}
