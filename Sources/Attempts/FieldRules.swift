import PushContract

/// The rules of single fields, over UTF-8 bytes.
enum FieldRules {
    /// 1–200 visible ASCII characters.
    static func visibleASCII(_ text: UnsafeBufferPointer<UInt8>, _ field: AttemptField) throws(AttemptFault) {
        guard (1...200).contains(text.count), text.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw AttemptFault("invalid_value", field, "`\(field.name)` must be 1 to 200 visible ASCII characters, without spaces")
        }
    }

    /// A number of characters (Unicode scalars), none of them a control character.
    static func characters(
        _ text: UnsafeBufferPointer<UInt8>,
        _ field: AttemptField,
        _ length: ClosedRange<Int>
    ) throws(AttemptFault) {
        var count = 0
        var previous: UInt8 = 0
        for byte in text {
            // C0 and DEL are single bytes; C1 is C2 80 to C2 9F.
            guard byte >= 0x20, byte != 0x7F, !(previous == 0xC2 && byte < 0xA0) else {
                throw AttemptFault("invalid_value", field, "`\(field.name)` must not hold control characters")
            }
            if byte & 0xC0 != 0x80 { count += 1 }
            previous = byte
        }
        guard length.contains(count) else {
            throw AttemptFault(
                "invalid_value",
                field,
                "`\(field.name)` must be \(length.lowerBound) to \(length.upperBound) characters long; it has \(count)"
            )
        }
    }

    /// `sha256:` and 64 lower-case hex digits. What was sent is never repeated: it may be a token.
    static func tokenHash(_ text: UnsafeBufferPointer<UInt8>) throws(AttemptFault) {
        guard !TokenHash.isWellFormed(text) else { return }
        let hasPrefix = text.starts(with: "sha256:".utf8)
        throw AttemptFault(
            hasPrefix ? "invalid_value" : "raw_token",
            .tokenHash,
            hasPrefix
                ? "`tokenHash` must be `sha256:` followed by 64 lower-case hex digits"
                : "`tokenHash` must be `sha256:` followed by 64 lower-case hex digits of the token's SHA-256. The prefix is what keeps a raw "
                    + "token out: an APNs token is 64 hex digits too. If this was a raw token, it was not stored; send its hash"
        )
    }
}
