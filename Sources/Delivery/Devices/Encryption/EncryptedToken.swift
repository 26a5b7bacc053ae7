import Foundation

/// An encrypted token as it is stored. In a column of text it is `encrypted:<key id>:<base64>`; in one of bytes a version byte, the key id
/// after its length, and the same bytes without base64.
struct EncryptedToken: Sendable {
    /// How every one in a column of text begins.
    static let prefix = "encrypted:"
    /// The first byte of every one in a column of bytes.
    private static let version: UInt8 = 1

    let keyId: String
    /// Nonce, ciphertext and tag.
    let box: [UInt8]

    init(keyId: String, box: [UInt8]) {
        self.keyId = keyId
        self.box = box
    }

    /// Nil for text that is not encrypted.
    init?(text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let rest = text.dropFirst(Self.prefix.count)
        let id = rest.prefix { $0 != ":" }
        guard !id.isEmpty else { return nil }
        keyId = String(id)
        // What is not base64 cannot be decrypted.
        box = Data(base64Encoded: String(rest.dropFirst(id.count + 1))).map { Array($0) } ?? []
    }

    /// Nil for what is not of this form.
    init?(bytes: [UInt8]) {
        guard bytes.count > 2, bytes[0] == Self.version else { return nil }
        let end = 2 + Int(bytes[1])
        guard (3...bytes.count).contains(end) else { return nil }
        keyId = String(decoding: bytes[2..<end], as: UTF8.self)
        box = Array(bytes[end...])
    }

    var text: String { Self.textPrefix(keyId: keyId) + Data(box).base64EncodedString() }
    var bytes: [UInt8] { Self.bytesPrefix(keyId: keyId) + box }

    /// - Parameter keyId: nil: of any key.
    static func textPrefix(keyId: String?) -> String { keyId.map { "\(prefix)\($0):" } ?? prefix }
    static func bytesPrefix(keyId: String?) -> [UInt8] { keyId.map { [version, UInt8($0.utf8.count)] + $0.utf8 } ?? [version] }
}
