import Crypto

/// Finds what may be a raw push token in a text.
///
/// A token has the shape of at least 64 hex digits in a row (APNs), or of at least 100 letters, digits, `-`, `_` and `:` in a row (FCM).
/// Over plain bytes, as `TokenHash` is: ingestion looks at every text of every attempt.
package enum TokenShape {
    /// An APNs token has 64 today.
    static let hexDigits = 64
    /// FCM's have more than 140.
    static let characters = 100

    /// The same as a regular expression of PostgreSQL. Slow, so only for texts of at least `shortest` characters.
    package static let pattern = "[0-9A-Fa-f]{\(hexDigits)}|[-0-9A-Za-z_:]{\(characters)}"
    package static let shortest = hexDigits

    /// Whether a part of the text has the shape of a token.
    package static func isContained(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        // Nearly every text is shorter than any token.
        guard text.count >= hexDigits else { return false }
        return runs(of: text, where: isTokenCharacter, atLeast: hexDigits) { run in
            run.count >= characters || runs(of: run, where: isHexDigit, atLeast: hexDigits) { _ in true }
        }
    }

    /// Whether a part of the text is the token that `tokenHash` is the hash of.
    ///
    /// Hashed are: a run of hex digits and the last 64 of it, in lower case; a run of token characters and what follows each `-`, `_` and
    /// `:` in it.
    /// - Parameter tokenHash: `sha256:…`, well-formed.
    package static func isContained(_ tokenHash: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count >= hexDigits else { return false }
        return runs(of: text, where: isTokenCharacter, atLeast: hexDigits) { run in
            let isHex = runs(of: run, where: isHexDigit, atLeast: hexDigits) { digits in
                let lowered = digits.map { $0 | 0x20 }
                return isHash(tokenHash, of: lowered[...]) || lowered.count > hexDigits && isHash(tokenHash, of: lowered.suffix(hexDigits))
            }
            return isHex || run.count >= characters && isTail(of: run, tokenHash)
        }
    }

    private static func isTail(of run: UnsafeBufferPointer<UInt8>, _ tokenHash: UnsafeBufferPointer<UInt8>) -> Bool {
        for start in 0...(run.count - characters) where start == 0 || isSeparator(run[start - 1]) {
            if isHash(tokenHash, of: Array(run[start...])[...]) { return true }
        }
        return false
    }

    private static func isHash(_ tokenHash: UnsafeBufferPointer<UInt8>, of token: ArraySlice<UInt8>) -> Bool {
        var index = TokenHash.prefix.utf8.count
        for byte in token.withUnsafeBytes({ SHA256.hash(data: $0) }) {
            guard hexDigit(byte >> 4) == tokenHash[index], hexDigit(byte & 15) == tokenHash[index + 1] else { return false }
            index += 2
        }
        return true
    }

    /// Whether `body` holds for one of the longest runs of such bytes.
    private static func runs(
        of text: UnsafeBufferPointer<UInt8>,
        where isMember: (UInt8) -> Bool,
        atLeast length: Int,
        _ body: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        var start = 0
        for end in 0...text.count where end == text.count || !isMember(text[end]) {
            if end - start >= length, body(UnsafeBufferPointer(rebasing: text[start..<end])) { return true }
            start = end + 1
        }
        return false
    }

    /// The characters that tokens of both providers consist of.
    package static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: isSeparator(byte)
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
