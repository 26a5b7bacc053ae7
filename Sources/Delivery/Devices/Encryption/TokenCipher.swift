package import PushContract

/// Encrypts raw tokens for the database and decrypts them for a provider's request: AES-GCM with the key set's current key.
///
/// What is stored (`EncryptedToken`) is bound to the token's kind and hash. Text that is not encrypted is a token from before tokens were,
/// and is passed on as it is. Safe to use from any task.
package struct TokenCipher: Sendable {
    private let keySet: TokenKeySet?
    private let nonces = NonceSource()

    package init(_ keySet: TokenKeySet) { self.keySet = keySet }

    private init() { keySet = nil }

    /// Has no key: for parts that never touch a token. Encryption and decryption throw.
    package static let withoutKeys = TokenCipher()

    /// What may be stored in a column of text.
    package func encrypt(_ token: PushToken, as kind: TokenKind) throws(TokenCipherError) -> String { try encrypted(token, as: kind).text }

    /// What may be stored in a column of bytes.
    package func encryptedBytes(of token: PushToken, as kind: TokenKind) throws(TokenCipherError) -> [UInt8] {
        try encrypted(token, as: kind).bytes
    }

    /// The raw token, in memory only.
    package func decrypt(_ stored: String, as kind: TokenKind, hash: TokenHash) throws(TokenCipherError) -> PushToken {
        guard let encrypted = EncryptedToken(text: stored) else { return PushToken(stored: stored, hash: hash) }
        return try decrypt(encrypted, as: kind, hash: hash)
    }

    package func decrypt(_ stored: [UInt8], as kind: TokenKind, hash: TokenHash) throws(TokenCipherError) -> PushToken {
        guard let encrypted = EncryptedToken(bytes: stored) else { throw .malformed }
        return try decrypt(encrypted, as: kind, hash: hash)
    }

    func encrypted(_ token: PushToken, as kind: TokenKind) throws(TokenCipherError) -> EncryptedToken {
        guard let keySet else { throw .noKeys }
        let key = keySet.current
        let box = key.cipher.encrypt(Self.bytes(of: token), nonce: nonces.next(), authenticating: Self.associatedData(kind, token.hash))
        guard let box else { throw .encryptionFailed }
        return EncryptedToken(keyId: key.id, box: box)
    }

    private func decrypt(_ encrypted: EncryptedToken, as kind: TokenKind, hash: TokenHash) throws(TokenCipherError) -> PushToken {
        guard let keySet else { throw .noKeys }
        guard let key = keySet.key(encrypted.keyId) else { throw .unknownKey(encrypted.keyId) }
        guard let bytes = key.cipher.decrypt(encrypted.box, authenticating: Self.associatedData(kind, hash)) else {
            throw .undecryptable(keyId: encrypted.keyId)
        }
        return PushToken(stored: Self.text(of: bytes), hash: hash)
    }

    /// What is encrypted. Of lower-case hex digits, as APNs tokens are, it is the bytes that they stand for, after a zero byte: no token
    /// begins with one, since control characters are refused wherever a token comes in (`JSONFields.string`).
    private static func bytes(of token: PushToken) -> [UInt8] {
        [UInt8](hexDigits: token.rawValue).map { [0] + $0 } ?? Array(token.rawValue.utf8)
    }

    private static func text(of bytes: [UInt8]) -> String {
        bytes.first == 0 ? bytes.dropFirst().hexDigits : String(decoding: bytes, as: UTF8.self)
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
    /// Bytes that are no encrypted token.
    case malformed
    case encryptionFailed

    /// Whether a process with other keys could decrypt the token.
    package var isKeyMissing: Bool {
        switch self {
        case .noKeys, .unknownKey: true
        case .undecryptable, .malformed, .encryptionFailed: false
        }
    }

    package var description: String {
        switch self {
        case .noKeys: "no token keys are configured here (PUSHWATCH_TOKEN_KEYS)"
        case .unknownKey(let id): "a token is encrypted with the key \(id), which PUSHWATCH_TOKEN_KEYS does not have"
        case .undecryptable(let id): "a token encrypted with the key \(id) cannot be decrypted: it, its hash or the key was changed"
        case .malformed: "an encrypted token has no form that this version reads"
        case .encryptionFailed: "a token cannot be encrypted"
        }
    }
}
