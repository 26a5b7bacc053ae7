import Crypto
import HTTPServer
import PushContract

/// The key from the configuration that is accepted before any key is stored. It has every scope; change it by configuration.
package struct BootstrapKey: Sendable {
    /// The configured text is too short to be a secret.
    package struct TooShort: Error, CustomStringConvertible {
        package var description: String { "the bootstrap key has fewer than \(minimumLength) characters; use a random one" }
    }

    package static let id = "bootstrap"
    package static let minimumLength = 24

    private let hash: [UInt8]

    package init(_ text: String) throws(TooShort) {
        guard text.utf8.count >= Self.minimumLength else { throw TooShort() }
        hash = Secrets.sha256(text)
    }

    func matches(_ text: String) -> Bool { Secrets.areEqual(Secrets.sha256(text), hash) }

    /// What a session opened with this key stores, so that it ends when another key is configured.
    ///
    /// Keyed with the session's own secret, which the database does not have: a copy of the database says nothing about the key.
    func proof(sessionSecret: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: hash, using: SymmetricKey(data: Array(sessionSecret.utf8))))
    }

    var key: APIKey {
        APIKey(
            id: Self.id,
            name: "bootstrap",
            scopes: Set(Scope.allScopes),
            createdAt: Timestamp(seconds: 0),
            createdBy: "configuration"
        )
    }
}
