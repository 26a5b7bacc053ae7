import Crypto
import Foundation
package import PushContract

/// Seals raw tokens for the database and opens them for a provider's request: AES-GCM with the key ring's current key.
///
/// The stored form is `sealed:<key id>:<base64>`: nonce, ciphertext and tag, bound to the token's kind and hash. Text without that prefix
/// is a token from before tokens were sealed, and is passed on as it is. Safe to use from any task.
package struct TokenVault: Sendable {
    /// How every sealed token begins.
    package static let prefix = "sealed:"

    private let ring: TokenKeyRing?

    package init(_ ring: TokenKeyRing) { self.ring = ring }

    private init() { ring = nil }

    /// Holds no key: for parts that never touch a token. Sealing and opening throw.
    package static let closed = TokenVault()

    package var keys: TokenKeyRing? { ring }

    /// What may be stored.
    package func seal(_ token: PushToken, as kind: TokenKind) throws(TokenVaultError) -> String {
        guard let ring else { throw .noKeys }
        do {
            let box = try AES.GCM.seal(
                Data(token.rawValue.utf8),
                using: ring.current.secret,
                authenticating: Self.bond(kind, token.hash)
            )
            guard let bytes = box.combined else { throw CryptoKitError.incorrectParameterSize }
            return "\(Self.prefix)\(ring.current.id):\(bytes.base64EncodedString())"
        } catch {
            throw .unsealable
        }
    }

    /// The raw token, in memory only.
    package func open(_ stored: String, as kind: TokenKind, hash: TokenHash) throws(TokenVaultError) -> PushToken {
        guard let keyId = Self.keyId(of: stored) else { return PushToken(stored: stored, hash: hash) }
        guard let ring else { throw .noKeys }
        guard let key = ring.key(keyId) else { throw .unknownKey(keyId) }
        guard let bytes = Data(base64Encoded: String(stored.dropFirst(Self.prefix.count + keyId.utf8.count + 1))),
            let box = try? AES.GCM.SealedBox(combined: bytes),
            let plain = try? AES.GCM.open(box, using: key.secret, authenticating: Self.bond(kind, hash))
        else { throw .damaged(keyId: keyId) }
        return PushToken(stored: String(decoding: plain, as: UTF8.self), hash: hash)
    }

    /// The key that sealed it; nil for a token that is not sealed.
    package static func keyId(of stored: String) -> String? {
        guard stored.hasPrefix(prefix) else { return nil }
        let id = stored.dropFirst(prefix.count).prefix { $0 != ":" }
        return id.isEmpty ? nil : String(id)
    }

    private static func bond(_ kind: TokenKind, _ hash: TokenHash) -> Data {
        Data("pushwatch.token.v1\n\(kind.rawValue)\n\(hash.rawValue)".utf8)
    }
}

/// Why a token cannot be sealed or opened. Safe to log.
package enum TokenVaultError: Error, Sendable, Hashable, CustomStringConvertible {
    case noKeys
    case unknownKey(String)
    case damaged(keyId: String)
    case unsealable

    package var description: String {
        switch self {
        case .noKeys: "no token keys are configured here (PUSHWATCH_TOKEN_KEYS)"
        case .unknownKey(let id): "a token is sealed with the key \(id), which PUSHWATCH_TOKEN_KEYS does not hold"
        case .damaged(let id): "a token sealed with the key \(id) cannot be opened: it, its hash or the key was changed"
        case .unsealable: "a token cannot be sealed"
        }
    }
}
