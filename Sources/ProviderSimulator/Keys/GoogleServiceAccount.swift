import Crypto
import CryptoExtras
import PushContract
import ServiceKit

/// A Google service account whose JSON key file a sender signs its OAuth assertions with.
package struct GoogleServiceAccount: Sendable, Hashable, Codable {
    package let projectId: String
    package let clientEmail: String
    let privateKeyId: String
    /// PKCS #8 PEM of a 2048-bit RSA key.
    package let privateKeyPEM: String

    package static func generate(projectId: String = "pushwatch-simulated") throws -> GoogleServiceAccount {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        return GoogleServiceAccount(
            projectId: projectId,
            clientEmail: "pushwatch@\(projectId).iam.gserviceaccount.com",
            privateKeyId: SHA256.hash(data: key.publicKey.derRepresentation).prefix(20).hexDigits,
            privateKeyPEM: key.pkcs8PEMRepresentation
        )
    }

    /// The key file, in the shape Google's console downloads it.
    /// - Parameter tokenURL: where assertions are exchanged for access tokens; also their `aud`.
    package func keyFile(tokenURL: String) -> String {
        let file: JSONValue = [
            "type": "service_account",
            "project_id": .string(projectId),
            "private_key_id": .string(privateKeyId),
            "private_key": .string(privateKeyPEM),
            "client_email": .string(clientEmail),
            "client_id": "100000000000000000001",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": .string(tokenURL),
            "universe_domain": "googleapis.com",
        ]
        return String(decoding: file.bytes, as: UTF8.self)
    }

    func trusted() throws -> GoogleTrustedAccount {
        GoogleTrustedAccount(
            projectId: projectId,
            clientEmail: clientEmail,
            privateKeyId: privateKeyId,
            publicKey: try _RSA.Signing.PrivateKey(pemRepresentation: privateKeyPEM).publicKey
        )
    }
}

/// An account that is registered with the simulated Google.
struct GoogleTrustedAccount: Sendable {
    let projectId: String
    let clientEmail: String
    let privateKeyId: String
    let publicKey: _RSA.Signing.PublicKey
}
