import PushContract

/// What somebody typed into the search box, and what it may be.
enum SearchTerm: Hashable {
    case nothing
    /// Hashes under which a token may be known. A raw token is hashed here and goes no further.
    case token([String])
    /// A uid, deviceId, sendId or attemptId: they look alike.
    case name(String)

    /// Longer than any id of the contract.
    private static let longest = 512

    init(_ typed: String) {
        let text = String(typed.trimmingPrefix(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        if text.isEmpty {
            self = .nothing
        } else if let hash = TokenHash(rawValue: text.lowercased()) {
            self = .token([hash.rawValue])
        } else if text.utf8.count == 64, text.allSatisfy(\.isHexDigit) {
            // A hash without its prefix, or a raw APNs token: both are 64 hex digits.
            self = .token(["sha256:" + text.lowercased()] + [(try? TokenHash.apns(text))?.rawValue].compactMap { $0 })
        } else if text.utf8.count > 100, text.contains(":"), let hash = try? TokenHash.fcm(text) {
            self = .token([hash.rawValue])
        } else {
            self = .name(String(text.prefix(Self.longest)))
        }
    }
}
