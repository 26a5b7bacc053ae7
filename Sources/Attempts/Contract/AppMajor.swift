/// The major version of an app: the number a version such as `3.2.0` begins with. `pushAppMajor` in SQL is the same.
///
/// At most four digits, so that build numbers and other texts make no more than ten thousand values.
enum AppMajor {
    static let none: Int16 = -1
    /// Of a folded version.
    static let other: Int16 = -2

    /// `none` for a version that begins otherwise, or with a longer number.
    static func parse(_ version: some Sequence<UInt8>) -> Int16 {
        var number: Int16 = 0
        var digits = 0
        for byte in version {
            guard (48...57).contains(byte) else { break }
            digits += 1
            if digits > 4 { return none }
            number = number * 10 + Int16(byte - 48)
        }
        return digits > 0 ? number : none
    }

    /// As the rollups have it: '' for none.
    static func text(_ major: Int16) -> String { major == other ? FoldedLabels.other : major < 0 ? "" : String(major) }
}
