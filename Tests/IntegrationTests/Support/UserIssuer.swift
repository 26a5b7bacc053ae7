import Crypto
import Foundation
import PushContract

/// An issuer of app-user tokens: an ES256 key and the JWKS file that the server reads.
struct UserIssuer: Sendable {
    static let issuer = "https://issuer.test.invalid"

    let jwksPath: String
    private let key = P256.Signing.PrivateKey()

    init(directory: String) throws {
        jwksPath = directory + "/jwks.json"
        let point = key.publicKey.x963Representation
        let jwks = """
            {"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","kid":"test","x":"\(base64URL(point.dropFirst().prefix(32)))",\
            "y":"\(base64URL(point.suffix(32)))"}]}
            """
        try jwks.write(toFile: jwksPath, atomically: true, encoding: .utf8)
    }

    func token(userId: String, issuer: String = Self.issuer, lifetime: Int64 = 3600) throws -> String {
        let now = Timestamp.now().seconds
        let claims: [String: Any] = ["iss": issuer, "sub": userId, "aud": "pushwatch", "iat": now, "exp": now + lifetime]
        let head = base64URL(Data(#"{"alg":"ES256","typ":"JWT","kid":"test"}"#.utf8))
        let text = head + "." + base64URL(try JSONSerialization.data(withJSONObject: claims))
        return text + "." + base64URL(try key.signature(for: Data(text.utf8)).rawRepresentation)
    }
}

private func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}
