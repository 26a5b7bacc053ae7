import JWTKit
import PushContract
import ServiceKit

/// A Google service account, as its JSON key file describes it.
struct FCMServiceAccount: Sendable {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    let projectId: String
    let clientEmail: String
    /// Where assertions are exchanged for access tokens; also their audience.
    let tokenURL: String
    private let keyId: String?
    private let key: Insecure.RSA.PrivateKey

    /// - Parameter file: The content of the key file.
    init(file: String, tokenURL override: String? = nil) throws(CredentialError) {
        guard let json = try? JSONParser.read(Array(file.utf8)), let members = json.members else {
            throw CredentialError(
                "The service account file is not a JSON object. Use the key file of the service account as the Google Cloud console gave it "
                    + "out."
            )
        }
        if let type = members["type"]?.string, type != "service_account" {
            throw CredentialError("The service account file has \"type\": \"\(type.prefix(40))\"; it must be \"service_account\".")
        }
        projectId = try FCMServiceAccount.text("project_id", in: members)
        clientEmail = try FCMServiceAccount.text("client_email", in: members)
        if let override { tokenURL = override } else { tokenURL = try FCMServiceAccount.text("token_uri", in: members) }
        keyId = members["private_key_id"]?.string
        guard projectId.utf8.allSatisfy(FCMServiceAccount.isProjectByte) else {
            throw CredentialError("\"project_id\" of the service account file is not a project id: letters, digits, hyphens, dots, colons.")
        }
        guard tokenURL.hasPrefix("https://") else {
            throw CredentialError("\"token_uri\" of the service account file must begin with https://.")
        }
        let pem = try FCMServiceAccount.text("private_key", in: members)
        guard let key = try? Insecure.RSA.PrivateKey(pem: pem) else {
            throw CredentialError(
                "\"private_key\" of the service account file is not an RSA private key of 2048 bits or more in PEM form. Keep its line "
                    + "breaks (\\n) as they are in the file."
            )
        }
        self.key = key
    }

    /// The signed request for an access token (Google, "Using OAuth 2.0 for server to server applications"): RS256, an hour at most.
    func assertion(now: Timestamp) async throws -> String {
        let keys = await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256, kid: keyId.map { JWKIdentifier(string: $0) })
        let claims = Claims(
            iss: clientEmail,
            scope: FCMServiceAccount.scope,
            aud: tokenURL,
            iat: now.seconds,
            exp: now.seconds + 3600
        )
        return try await keys.sign(claims, kid: keyId.map { JWKIdentifier(string: $0) })
    }

    private struct Claims: JWTPayload {
        var iss: String
        var scope: String
        var aud: String
        var iat: Int64
        var exp: Int64

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private static func text(_ name: String, in members: JSONMembers) throws(CredentialError) -> String {
        guard let text = members[name]?.string, !text.isEmpty else {
            throw CredentialError("The service account file has no \"\(name)\". Use the complete key file of the service account.")
        }
        return text
    }

    private static func isProjectByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
        default: false
        }
    }
}
