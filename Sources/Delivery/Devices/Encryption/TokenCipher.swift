import Crypto
import Foundation
package import PushContract

/// Encrypts raw tokens for the database and decrypts them for a provider's request: AES-GCM with the key set's current key.
///
/// The stored form is `encrypted:<key id>:<base64>`: nonce, ciphertext and tag, bound to the token's kind and hash. Text without that
/// prefix is a token from before tokens were encrypted, and is passed on as it is. Safe to use from any task.
package struct TokenCipher: Sendable {
    /// How every encrypted token begins.
    package static let prefix = "encrypted:"

    private let keySet: TokenKeySet?
    private let nonces = NonceSource()

    package init(_ keySet: TokenKeySet) { self.keySet = keySet }

    private init() { keySet = nil }

    /// Has no key: for parts that never touch a token. Encryption and decryption throw.
    package static let withoutKeys = TokenCipher()

    /// What may be stored.
    package func encrypt(_ token: PushToken, as kind: TokenKind) throws(TokenCipherError) -> String {
        guard let keySet else { throw .noKeys }
        do {
            let box = try AES.GCM.seal(
                Array(token.rawValue.utf8),
                using: keySet.current.secret,
                nonce: nonces.next(),
                authenticating: Self.associatedData(kind, token.hash)
            )
            guard let bytes = box.combined else { throw CryptoKitError.incorrectParameterSize }
            let encoded = bytes.base64EncodedString()
            var stored = ""
            stored.reserveCapacity(Self.prefix.utf8.count + keySet.current.id.utf8.count + 1 + encoded.utf8.count)
            stored += Self.prefix
            stored += keySet.current.id
            stored += ":"
            stored += encoded
            return stored
        } catch {
            throw .encryptionFailed
        }
    }

    /// The raw token, in memory only.
    package func decrypt(_ stored: String, as kind: TokenKind, hash: TokenHash) throws(TokenCipherError) -> PushToken {
        guard let keyId = Self.keyId(of: stored) else { return PushToken(stored: stored, hash: hash) }
        guard let keySet else { throw .noKeys }
        guard let key = keySet.key(keyId) else { throw .unknownKey(keyId) }
        guard let bytes = Data(base64Encoded: String(stored.dropFirst(Self.prefix.count + keyId.utf8.count + 1))),
            let box = try? AES.GCM.SealedBox(combined: bytes),
            let plain = try? AES.GCM.open(box, using: key.secret, authenticating: Self.associatedData(kind, hash))
        else { throw .undecryptable(keyId: keyId) }
        return PushToken(stored: String(decoding: plain, as: UTF8.self), hash: hash)
    }

    /// The key it is encrypted with; nil for a token that is not encrypted.
    package static func keyId(of stored: String) -> String? {
        guard stored.hasPrefix(prefix) else { return nil }
        let id = stored.dropFirst(prefix.count).prefix { $0 != ":" }
        return id.isEmpty ? nil : String(id)
    }

    private static func associatedData(_ kind: TokenKind, _ hash: TokenHash) -> [UInt8] {
        var data: [UInt8] = []
        data.reserveCapacity(128)
        data += "pushwatch.token.v1\n".utf8
        data += kind.rawValue.utf8
        data.append(UInt8(ascii: "\n"))
        data += hash.rawValue.utf8
        return data
    }
}

/// Why a token cannot be encrypted or decrypted. Safe to log.
package enum TokenCipherError: Error, Sendable, Hashable, CustomStringConvertible {
    case noKeys
    case unknownKey(String)
    case undecryptable(keyId: String)
    case encryptionFailed

    /// Whether a process with other keys could decrypt the token.
    package var isKeyMissing: Bool {
        switch self {
        case .noKeys, .unknownKey: true
        case .undecryptable, .encryptionFailed: false
        }
    }

    package var description: String {
        switch self {
        case .noKeys: "no token keys are configured here (PUSHWATCH_TOKEN_KEYS)"
        case .unknownKey(let id): "a token is encrypted with the key \(id), which PUSHWATCH_TOKEN_KEYS does not have"
        case .undecryptable(let id): "a token encrypted with the key \(id) cannot be decrypted: it, its hash or the key was changed"
        case .encryptionFailed: "a token cannot be encrypted"
        }
    }
}
