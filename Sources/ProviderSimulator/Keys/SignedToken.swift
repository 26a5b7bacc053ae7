import Crypto
import CryptoExtras
import Foundation
import ServiceKit

/// A JSON web token taken apart (RFC 7515 compact form). Parsing checks the shape only; the signature is checked by `isSigned`.
struct SignedToken: Sendable, Hashable {
    let header: JSONMembers
    let claims: JSONMembers
    private let signingInput: [UInt8]
    private let signature: Data

    init?(_ compact: String) {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
            let headerObject = JSONValue(bytes: header)?.members, let claimsObject = JSONValue(bytes: claims)?.members
        else { return nil }
        self.header = headerObject
        self.claims = claimsObject
        self.signingInput = Array("\(parts[0]).\(parts[1])".utf8)
        self.signature = Data(signature)
    }

    /// ES256: the signature is r and s, 32 bytes each.
    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: signingInput)
    }

    /// RS256: PKCS #1 v1.5 over SHA-256.
    func isSigned(by key: _RSA.Signing.PublicKey) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: SHA256.hash(data: signingInput), padding: .insecurePKCS1v1_5)
    }
}
