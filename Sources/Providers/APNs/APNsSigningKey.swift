import JWTKit
import PushContract

/// The key with which a team signs its provider tokens.
struct APNsSigningKey: Sendable {
    let teamId: String
    let keyId: String
    private let key: ES256PrivateKey

    /// - Parameter pem: The content of `AuthKey_<keyId>.p8`.
    init(teamId: String, keyId: String, pem: String) throws(CredentialError) {
        try APNsSigningKey.check(teamId, "team id", "Membership details")
        try APNsSigningKey.check(keyId, "key id", "Keys")
        self.teamId = teamId
        self.keyId = keyId
        guard let key = try? ES256PrivateKey(pem: pem) else {
            throw CredentialError(
                "The .p8 file of APNs key \(keyId) is not an EC private key in PEM form: \(APNsSigningKey.finding(pem)). Use the file "
                    + "AuthKey_\(keyId).p8 as Apple's developer site gave it out, unchanged."
            )
        }
        self.key = key
    }

    /// A provider token issued at `now` (Apple, "Establishing a token-based connection to APNs"): ES256, `kid`, `iss`, `iat`.
    func token(now: Timestamp) async throws -> String {
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyId))
        return try await keys.sign(Claims(iss: teamId, iat: now.seconds), kid: JWKIdentifier(string: keyId))
    }

    /// `iat` is a whole number: APNs accepts neither a fraction nor a string.
    private struct Claims: JWTPayload {
        var iss: String
        var iat: Int64

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private static func check(_ id: String, _ name: String, _ page: String) throws(CredentialError) {
        guard id.utf8.count == 10, id.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }) else {
            throw CredentialError(
                "The APNs \(name) \"\(id.prefix(40))\" is not 10 capital letters and digits. Find it on Apple's developer site under "
                    + "\(page)."
            )
        }
    }

    /// A description of what the file is instead, without its content.
    private static func finding(_ pem: String) -> String {
        if pem.allSatisfy(\.isWhitespace) { return "it is empty" }
        guard let line = pem.split(whereSeparator: \.isNewline).first(where: { $0.contains("-----BEGIN ") }) else {
            return "it has no line -----BEGIN PRIVATE KEY-----"
        }
        if line.contains("PRIVATE KEY") { return "what follows -----BEGIN PRIVATE KEY----- is not a P-256 key" }
        return line.contains("CERTIFICATE") ? "it holds a certificate" : "it begins with another kind of PEM block"
    }
}
