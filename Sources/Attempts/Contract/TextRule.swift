import PushContract

/// What a text may be, over UTF-8 bytes.
enum TextRule: Sendable {
    /// 1–200 visible ASCII characters.
    case visibleASCII
    /// A number of characters (Unicode scalars), none of them a control character.
    case characters(ClosedRange<Int>)
    /// `sha256:` and 64 lower-case hex digits.
    case tokenHash

    func check(_ text: UnsafeBufferPointer<UInt8>, _ column: AttemptColumn) throws(AttemptFault) {
        switch self {
        case .visibleASCII: try TextRule.checkVisibleASCII(text, column)
        case .characters(let length): try TextRule.checkCharacters(text, column, length)
        case .tokenHash: try TextRule.checkTokenHash(text)
        }
    }

    private static func checkVisibleASCII(_ text: UnsafeBufferPointer<UInt8>, _ column: AttemptColumn) throws(AttemptFault) {
        guard (1...200).contains(text.count), text.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw AttemptFault("invalid_value", column, "`\(column.name)` must be 1 to 200 visible ASCII characters, without spaces")
        }
    }

    private static func checkCharacters(
        _ text: UnsafeBufferPointer<UInt8>,
        _ column: AttemptColumn,
        _ length: ClosedRange<Int>
    ) throws(AttemptFault) {
        var count = 0
        var previous: UInt8 = 0
        for byte in text {
            // C0 and DEL are single bytes; C1 is C2 80 to C2 9F.
            guard byte >= 0x20, byte != 0x7F, !(previous == 0xC2 && byte < 0xA0) else {
                throw AttemptFault("invalid_value", column, "`\(column.name)` must not hold control characters")
            }
            if byte & 0xC0 != 0x80 { count += 1 }
            previous = byte
        }
        guard length.contains(count) else {
            throw AttemptFault(
                "invalid_value",
                column,
                "`\(column.name)` must be \(length.lowerBound) to \(length.upperBound) characters long; it has \(count)"
            )
        }
    }

    /// What was sent is never repeated in the error: it may be a token.
    private static func checkTokenHash(_ text: UnsafeBufferPointer<UInt8>) throws(AttemptFault) {
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

    /// Refuses what may be a raw token: in any text the token whose hash the attempt has, in `refusesTokenShape` columns also what only has
    /// the shape of one. (An attemptId is 64 hex digits itself.) What was sent is never repeated in the error.
    static func check(
        _ text: UnsafeBufferPointer<UInt8>,
        _ column: AttemptColumn,
        against tokenHash: UnsafeBufferPointer<UInt8>
    )
        throws(AttemptFault)
    {
        guard column.refusesTokenShape else {
            guard TokenShape.isContained(tokenHash, in: text) else { return }
            throw rawToken(column)
        }
        guard TokenShape.isContained(in: text) else { return }
        throw AttemptFault(
            "raw_token",
            column,
            "`\(column.name)` has a part that looks like a push token: 64 or more hex digits, or 100 or more letters, digits, `-`, `_` and "
                + "`:`, in a row. It was not stored; remove that part, or leave the field out"
        )
    }

    static func rawToken(_ column: AttemptColumn) -> AttemptFault {
        AttemptFault(
            "raw_token",
            column,
            "`\(column.name)` has the push token in it whose hash is `tokenHash`. It was not stored; use a value without the token"
        )
    }
}
