import Attempts
import PushContract

/// What somebody typed into the search box, and what it may be.
enum SearchTerm: Hashable {
    case nothing
    /// Hashes under which a token may be known. A raw token is hashed here and goes no further. With the key of an attempt where the text
    /// may be an attemptId, which has the shape of an APNs token.
    case token([String], attempt: AttemptKey? = nil)
    /// A uid, deviceId, sendId or attemptId: they look alike.
    case name(String)

    /// Longer than any id of the contract.
    private static let longest = 512

    /// - Parameter isName: it is no token, whatever its shape.
    init(_ typed: String, isName: Bool = false) {
        let text = String(typed.trimmingPrefix(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        if text.isEmpty {
            self = .nothing
        } else if isName {
            self = .name(String(text.prefix(Self.longest)))
        } else if let hash = TokenHash(rawValue: text.lowercased()) {
            self = .token([hash.rawValue])
        } else if text.utf8.count == 64, text.allSatisfy(\.isHexDigit) {
            // A hash without its prefix, a raw APNs token, or an attemptId of the contract: all are 64 hex digits.
            let hashes = ["sha256:" + text.lowercased()] + [(try? TokenHash.apns(text))?.rawValue].compactMap { $0 }
            self = .token(hashes, attempt: AttemptKey(attemptId: text))
        } else if text.utf8.count > 100, text.contains(":"), let hash = try? TokenHash.fcm(text) {
            self = .token([hash.rawValue])
        } else {
            self = .name(String(text.prefix(Self.longest)))
        }
    }
}
