import Crypto

/// Names a credential in logs, holds and metrics: who it belongs to, and a few digits that change with its key.
enum CredentialName {
    /// - Parameter secret: the key; only a digest's first bytes remain of it.
    static func of(_ owner: String, secret: String) -> String {
        let digits = SHA256.hash(data: Array(secret.utf8)).prefix(4).map { byte in
            let hex = String(byte, radix: 16)
            return hex.count == 1 ? "0" + hex : hex
        }
        return "\(owner)#\(digits.joined())"
    }
}
