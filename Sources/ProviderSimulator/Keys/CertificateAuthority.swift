import Crypto
import Foundation
import SwiftASN1
import X509

/// The authority of one run: made at start, its key never leaves memory. Clients trust the PEM it writes.
struct CertificateAuthority: Sendable {
    let certificatePEM: String
    private let certificate: Certificate
    private let key: Certificate.PrivateKey

    init(now: Date) throws {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = try DistinguishedName { CommonName("Pushwatch provider simulator CA") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: key.publicKey,
            notValidBefore: now.addingTimeInterval(-3600),
            notValidAfter: now.addingTimeInterval(365 * 86400),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try .init {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: key.publicKey)
            },
            issuerPrivateKey: key
        )
        self.key = key
        self.certificate = certificate
        certificatePEM = try certificate.serializeAsPEM().pemString
    }

    /// A server certificate for this machine's loopback names, valid 90 days, with its key.
    func issueServerCertificate(names: [String], now: Date) throws -> ServerIdentity {
        let leafKey = P256.Signing.PrivateKey()
        let publicKey = Certificate.PublicKey(leafKey.publicKey)
        let leaf = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: publicKey,
            notValidBefore: now.addingTimeInterval(-3600),
            notValidAfter: now.addingTimeInterval(90 * 86400),
            issuer: certificate.subject,
            subject: try DistinguishedName { CommonName("localhost") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try .init {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names.map(Self.generalName))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: key.publicKey).keyIdentifier)
            },
            issuerPrivateKey: key
        )
        return ServerIdentity(certificatePEM: try leaf.serializeAsPEM().pemString, privateKeyPEM: leafKey.pemRepresentation)
    }

    /// An IPv4 address is named by its four bytes, anything else as a DNS name.
    private static func generalName(_ name: String) -> GeneralName {
        let bytes = name.split(separator: ".").compactMap { UInt8($0) }
        return bytes.count == 4 ? .ipAddress(ASN1OctetString(contentBytes: bytes[...])) : .dnsName(name)
    }
}

/// A server certificate and its key.
struct ServerIdentity: Sendable {
    let certificatePEM: String
    let privateKeyPEM: String
}
