import Crypto

/// The deterministic identity of an attempt, the same on every platform.
public enum AttemptID {
    /// SHA-256 hex over `pushattempt.v1` and the seven parts, joined by line feeds.
    ///
    /// - Parameters:
    ///   - operationKey: The `operationId` of a register or unregister, the deduplication key of a send.
    ///   - attemptNumber: 1 for the first attempt; each retry has the next number and therefore its own identity.
    /// - Returns: Nil if a part contains a control character, which would make the joined text ambiguous.
    public static func derive(
        eventType: EventType,
        uid: String,
        platform: Platform,
        provider: Provider,
        tokenHash: TokenHash,
        operationKey: String,
        attemptNumber: Int
    ) -> String? {
        guard !uid.hasControlCharacter, !operationKey.hasControlCharacter else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(256)
        text += "pushattempt.v1\n".utf8
        for part in [eventType.rawValue, uid, platform.rawValue, provider.rawValue] {
            text += part.utf8
            text.append(UInt8(ascii: "\n"))
        }
        tokenHash.withHexDigits { text.append(contentsOf: $0) }
        text.append(UInt8(ascii: "\n"))
        text += operationKey.utf8
        text.append(UInt8(ascii: "\n"))
        text += String(attemptNumber).utf8
        return SHA256.hash(data: text).hexDigits
    }
}
