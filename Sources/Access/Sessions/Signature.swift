import Crypto

/// Signs short texts that travel through a browser (HMAC-SHA-256), each for one purpose only.
struct Signature: Sendable {
    private let key: SymmetricKey

    /// - Parameter secret: at least 32 random bytes, or a configured text from which a key is derived.
    init(secret: [UInt8]) {
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret),
            info: Array("pushwatch signature v1".utf8),
            outputByteCount: 32
        )
    }

    /// The text with its signature behind it: `<text>.<43 characters>`.
    func sign(_ text: String, purpose: String) -> String { "\(text).\(Base64URL.encode(code(text, purpose)))" }

    /// The text, if the signature is ours and for this purpose.
    func verify(_ signed: String, purpose: String) -> Substring? {
        guard signed.utf8.count <= 1_024, let dot = signed.lastIndex(of: "."),
            let given = Base64URL.decode(signed[signed.index(after: dot)...])
        else { return nil }
        let text = signed[..<dot]
        return Secrets.areEqual(given, code(String(text), purpose)) ? text : nil
    }

    private func code(_ text: String, _ purpose: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("\(purpose)\n\(text)".utf8), using: key))
    }
}
