import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A self-signed certificate for `localhost`, its PEM file for a client that is to trust it, and one with its key for a server.
struct ThrowawayCertificate {
    let pemFile: String
    let serverFile: String
    let tls: TLSConfiguration

    /// - Parameter names: hosts that it is for; the loopback address too, unless one is given.
    init(names: [String]? = nil, validUntil end: Date = Date().addingTimeInterval(3600)) throws {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: end.addingTimeInterval(-7200),
            notValidAfter: end,
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames(
                    names?.map { .dnsName($0) } ?? [.dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))]
                )
            },
            issuerPrivateKey: key
        )
        let pem = try certificate.serializeAsPEM().pemString
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("pushwatch-\(UUID())").path
        pemFile = place + ".pem"
        serverFile = place + "-server.pem"
        try pem.write(toFile: pemFile, atomically: true, encoding: .utf8)
        try (pem + "\n" + key.serializeAsPEM().pemString).write(toFile: serverFile, atomically: true, encoding: .utf8)
        tls = .makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.serializeAsPEM().pemString.utf8), format: .pem))
        )
    }
}
