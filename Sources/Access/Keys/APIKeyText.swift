import ServiceKit

/// The text of an API key: `pw_<id>_<secret>`, the secret being 43 characters of base64url (256 random bits).
///
/// The id is public and names the key in logs and lists; the prefix lets secret scanners find leaked keys.
package struct APIKeyText: Sendable, Equatable {
    package let id: String
    let secret: String

    static let prefix = "pw_"
    static let secretLength = 43

    /// A new key.
    package static func generate() -> APIKeyText {
        APIKeyText(id: Secrets.randomId(), secret: Base64URL.encode(Secrets.random(32)))
    }

    private init(id: String, secret: String) {
        self.id = id
        self.secret = secret
    }

    /// Nil for text that cannot be a key.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= 100 else { return nil }
        let rest = text.dropFirst(Self.prefix.count)
        guard let separator = rest.firstIndex(of: "_") else { return nil }
        let (id, secret) = (rest[..<separator], rest[rest.index(after: separator)...])
        guard !id.isEmpty, id.utf8.allSatisfy(Self.isIdByte), secret.utf8.count == Self.secretLength,
            secret.utf8.allSatisfy(Self.isSecretByte)
        else { return nil }
        self.init(id: String(id), secret: String(secret))
    }

    /// The whole key; shown once, when it is made.
    package var text: String { "\(Self.prefix)\(id)_\(secret)" }

    /// What is stored of the secret.
    var hash: [UInt8] { Secrets.sha256(secret) }

    private static func isIdByte(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }
    private static func isSecretByte(_ byte: UInt8) -> Bool {
        isIdByte(byte) || (0x41...0x5A).contains(byte) || byte == 0x2D || byte == 0x5F
    }
}
