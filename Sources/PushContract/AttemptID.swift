import Crypto

/// The deterministic identity of a try, the same on every platform.
public enum AttemptID {
    /// SHA-256 hex over `pushattempt.v1` and the seven parts, joined by line feeds.
    ///
    /// - Parameters:
    ///   - operationKey: the `operationId` of a register or unregister, the dedupe key of a send.
    ///   - attemptNumber: 1 for the first try; each retry has the next number and so its own identity.
    /// - Returns: nil when a part holds a control character, which would make the join ambiguous.
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
        guard parts.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }) else { return nil }
        return SHA256.hash(data: Array(parts.joined(separator: "\n").utf8)).hexDigits
    }
}
