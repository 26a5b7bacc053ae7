import PushContract

/// A provider's words as they may be stored, logged and shown: without what may be a token and without control characters, and not long.
///
/// The provider's own codes are none of that and stay as they are.
enum ProviderText {
    /// Characters of a code or an id, as the column of an attempt takes them.
    static let longestCode = 200
    /// Characters of a line for the log.
    static let longestDetail = 500

    /// - Parameter token: the one that was sent to; empty where it is not known.
    static func code(_ text: String, token: String = "") -> String { clean(text, token, limit: longestCode) }
    static func detail(_ text: String, token: String = "") -> String { clean(text, token, limit: longestDetail) }

    /// An id of a message; nil for an empty one.
    static func messageId(_ text: String?) -> String? { text.map { code($0) }.flatMap { $0.isEmpty ? nil : $0 } }

    /// Tokens are removed before the text is cut: the beginning of one would not be recognised.
    private static func clean(_ text: String, _ token: String, limit: Int) -> String {
        let text = TokenRemoval.of(text, token)
        guard text.unicodeScalars.count > limit || text.hasControlCharacter else { return text }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) { kept.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
        return String(kept)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
}
