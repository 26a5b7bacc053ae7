import COpenSSL
import Crypto
import Synchronization

/// AES-256-GCM (NIST SP 800-38D) with one key, by OpenSSL, which sets the key up once: swift-crypto does that for each message, which takes
/// longer than to encrypt a token. Safe to use from any task.
final class KeyCipher: Sendable {
    static let nonceSize = 12
    private static let tagSize = 16

    /// OpenSSL erases what it knows of the key when it is freed. Used by one thread at a time.
    private struct Context: ~Copyable, @unchecked Sendable {
        private let cipher: OpaquePointer
        private let encrypts: Bool

        init(_ key: SymmetricKey, encrypts: Bool) {
            precondition(key.bitCount == 256, "a key has 32 bytes")
            guard let cipher = EVP_CIPHER_CTX_new() else { preconditionFailure("no memory for a cipher") }
            let isReady = key.withUnsafeBytes { key in
                EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), nil, key.bindMemory(to: UInt8.self).baseAddress, nil, encrypts ? 1 : 0) == 1
            }
            precondition(isReady, "OpenSSL has no AES-256-GCM")
            self.cipher = cipher
            self.encrypts = encrypts
        }

        deinit { EVP_CIPHER_CTX_free(cipher) }

        /// Encrypts or decrypts the bytes, in place.
        ///
        /// - Parameters:
        ///   - nonce: `nonceSize` bytes.
        ///   - tag: `tagSize` bytes: where they are put, or those to check.
        /// - Returns: whether it is done, and authentic.
        func apply(
            _ bytes: UnsafeMutableBufferPointer<UInt8>,
            nonce: UnsafePointer<UInt8>,
            authenticating data: [UInt8],
            tag: UnsafeMutableRawPointer
        ) -> Bool {
            var count: Int32 = 0
            // What is nil, and -1, stays as it is: the key and the direction.
            guard EVP_CipherInit_ex(cipher, nil, nil, nil, nonce, -1) == 1,
                encrypts || EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(KeyCipher.tagSize), tag) == 1,
                EVP_CipherUpdate(cipher, nil, &count, data, Int32(data.count)) == 1,
                EVP_CipherUpdate(cipher, bytes.baseAddress, &count, bytes.baseAddress, Int32(bytes.count)) == 1,
                EVP_CipherFinal_ex(cipher, bytes.baseAddress.map { $0 + Int(count) }, &count) == 1
            else { return false }
            return !encrypts || EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(KeyCipher.tagSize), tag) == 1
        }
    }

    private let encrypting: Mutex<Context>
    private let decrypting: Mutex<Context>

    /// - Parameter key: of 32 bytes.
    init(_ key: SymmetricKey) {
        encrypting = Mutex(Context(key, encrypts: true))
        decrypting = Mutex(Context(key, encrypts: false))
    }

    /// Nonce, ciphertext and tag. Nil if OpenSSL fails.
    ///
    /// - Parameters:
    ///   - nonce: never used before with this key.
    ///   - data: what must be given to decrypt it, and is not in it.
    func encrypt(_ message: [UInt8], nonce: [UInt8], authenticating data: [UInt8]) -> [UInt8]? {
        precondition(nonce.count == KeyCipher.nonceSize, "a nonce has 12 bytes")
        var box = nonce
        box.reserveCapacity(box.count + message.count + KeyCipher.tagSize)
        box += message
        box += repeatElement(0, count: KeyCipher.tagSize)
        return apply(encrypting, &box, authenticating: data) ? box : nil
    }

    /// The message. Nil if the box, the data or the key is another one than it was encrypted with.
    func decrypt(_ box: [UInt8], authenticating data: [UInt8]) -> [UInt8]? {
        guard box.count >= KeyCipher.nonceSize + KeyCipher.tagSize else { return nil }
        var box = box
        guard apply(decrypting, &box, authenticating: data) else { return nil }
        return Array(box[KeyCipher.nonceSize..<box.count - KeyCipher.tagSize])
    }

    private func apply(_ context: borrowing Mutex<Context>, _ box: inout [UInt8], authenticating data: [UInt8]) -> Bool {
        box.withUnsafeMutableBufferPointer { box in
            guard let start = box.baseAddress else { return false }
            let end = box.count - KeyCipher.tagSize
            return context.withLock { context in
                context.apply(
                    UnsafeMutableBufferPointer(rebasing: box[KeyCipher.nonceSize..<end]),
                    nonce: start,
                    authenticating: data,
                    tag: start + end
                )
            }
        }
    }
}
