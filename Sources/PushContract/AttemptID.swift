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
        let parts: [String] = [
            "pushattempt.v1", eventType.rawValue, uid, platform.rawValue, provider.rawValue, String(tokenHash.hexDigits), operationKey,
            String(attemptNumber),
        ]
        guard !parts.contains(where: \.hasControlCharacter) else { return nil }
        return SHA256.hash(data: Array(parts.joined(separator: "\n").utf8)).hexDigits
    }
}
