import CommandLineKit
import Crypto
import Foundation
import JWTKit
import ServiceKit

/// An issuer of app-user tokens for the demo: an ES256 key, kept in the state directory, and its JWKS.
struct DemoIssuer {
    static let issuer = "https://demo.pushwatch.invalid"
    static let audience = "pushwatch"

    let jwksPath: String
    private let key: P256.Signing.PrivateKey

    init(directory: String) throws {
        let keyPath = directory + "/demo-issuer.pem"
        if let pem = try? String(contentsOfFile: keyPath, encoding: .utf8), let kept = try? P256.Signing.PrivateKey(pemRepresentation: pem)
        {
            key = kept
        } else {
            key = P256.Signing.PrivateKey()
            try PrivateFile.write(key.pemRepresentation, to: keyPath)
        }
        jwksPath = directory + "/demo-issuer.jwks.json"
        try PrivateFile.write(jwks, to: jwksPath)
    }

    private var jwks: String {
        let point = key.publicKey.x963Representation
        let x = Base64URL.encode(point.dropFirst().prefix(32))
        let y = Base64URL.encode(point.suffix(32))
        return #"{"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","kid":"demo","x":"\#(x)","y":"\#(y)"}]}"#
    }

    private struct Claims: JWTPayload {
        var iss: IssuerClaim
        var sub: SubjectClaim
        var aud: AudienceClaim
        var exp: ExpirationClaim
        var iat: IssuedAtClaim

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    /// A token for one user, good for `days` days.
    func token(userId: String, now: Date, days: Double = 30) async throws -> String {
        let keys = JWTKeyCollection()
        await keys.add(ecdsa: try ES256PrivateKey(pem: key.pemRepresentation), kid: "demo")
        return try await keys.sign(
            Claims(
                iss: .init(value: DemoIssuer.issuer),
                sub: .init(value: userId),
                aud: .init(value: [DemoIssuer.audience]),
                exp: .init(value: now.addingTimeInterval(days * 86_400)),
                iat: .init(value: now)
            ),
            kid: "demo"
        )
    }
}
