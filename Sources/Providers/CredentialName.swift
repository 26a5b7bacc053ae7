import Crypto

/// The name of a credential in logs, circuits and metrics: its owner, and a few digits that change with its key.
enum CredentialName {
    /// - Parameter secret: The key; only the first bytes of its digest are used.
    static func of(_ owner: String, secret: String) -> String {
        let digits = SHA256.hash(data: Array(secret.utf8)).prefix(4).map { byte in
            let hex = String(byte, radix: 16)
            return hex.count == 1 ? "0" + hex : hex
        }
        return "\(owner)#\(digits.joined())"
    }
}
