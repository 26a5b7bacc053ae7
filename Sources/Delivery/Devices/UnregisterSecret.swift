import Crypto
import ServiceKit

/// What lets an app unregister its device after its user's session is gone: `pwd_` and 43 characters of base64url, sent as a Bearer
/// credential. The database has only hashes.
package struct UnregisterSecret: Sendable, Hashable {
    /// The text; shown once, in the answer to a registration.
    package let text: String

    package static let prefix = "pwd_"
    /// How many of the last ones hold: the answer with the newest may have been lost on its way.
    static let maximumCount = 8

    package init(text: String) { self.text = text }

    /// A new one, from 256 random bits.
    package static func generate() -> UnregisterSecret {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return UnregisterSecret(text: prefix + Base64URL.encode(bytes))
    }

    /// What is stored.
    package var hash: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}
