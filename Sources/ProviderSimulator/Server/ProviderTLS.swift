import NIOHTTP2
import NIOSSL

/// What a connection is offered in its TLS handshake: TLS 1.2 or newer, HTTP/2 or HTTP/1.1.
struct ProviderTLS: Sendable {
    private let valid: NIOSSLContext
    private let expired: NIOSSLContext
    /// Wants a client certificate.
    private let demanding: NIOSSLContext

    init(_ identity: (valid: ServerIdentity, expired: ServerIdentity)) throws {
        var tls = try Self.configuration(identity.valid)
        valid = try NIOSSLContext(configuration: tls)
        tls.certificateVerification = .noHostnameVerification
        tls.trustRoots = .certificates([try Self.certificate(identity.valid)])
        demanding = try NIOSSLContext(configuration: tls)
        expired = try NIOSSLContext(configuration: Self.configuration(identity.expired))
    }

    func context(under conditions: ConnectionConditions) -> NIOSSLContext {
        if conditions.expiredCertificate { return expired }
        return conditions.requiresClientCertificate ? demanding : valid
    }

    private static func configuration(_ identity: ServerIdentity) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try certificate(identity))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem))
        )
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = NIOHTTP2SupportedALPNProtocols
        return tls
    }

    private static func certificate(_ identity: ServerIdentity) throws -> NIOSSLCertificate {
        try NIOSSLCertificate(bytes: Array(identity.certificatePEM.utf8), format: .pem)
    }
}
