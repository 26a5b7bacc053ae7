import Foundation
import ServiceKit

/// The header of a JWT, read before anything in it is trusted.
struct TokenHeader: Decodable, Equatable {
    var alg: String
    var kid: String?
    var crit: [String]?

    static let maximumLength = 8_192

    /// Nil for text that is not a JWT we could verify: other algorithms ("none" and HMAC among them), or extensions that must be
    /// understood and are not (RFC 7515 §4.1.11).
    init?(token: String) {
        guard token.utf8.count <= Self.maximumLength else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[0]),
            let header = try? JSONDecoder().decode(TokenHeader.self, from: Data(bytes)),
            ["RS256", "ES256"].contains(header.alg), header.crit == nil
        else { return nil }
        self = header
    }
}
