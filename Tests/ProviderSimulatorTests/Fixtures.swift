import Crypto
import CryptoExtras
import Foundation
import PushContract
import ServiceKit

@testable import ProviderSimulator

/// 2026-03-01T00:00:00Z, the moment all checks are made at.
let noon = Timestamp(seconds: 1_772_323_200)
let deviceToken = String(repeating: "ab", count: 32)
let fcmToken = "demo-token:APA91b_0123456789"

/// Keys made once for all tests; RSA keys are slow to make.
enum Keys {
    static let credentials = Result { try SimulatorCredentials.generate() }
    static let other = Result { try SimulatorCredentials.generate() }
}

func credentials() throws -> SimulatorCredentials {
    try Keys.credentials.get()
}

/// Signs whatever it is given, also what no library would.
struct TokenWriter {
    var header: JSONValue
    var claims: JSONValue

    func es256(_ pem: String) throws -> String {
        let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
        return signed(try key.signature(for: Data(input.utf8)).rawRepresentation)
    }

    func rs256(_ pem: String) throws -> String {
        let key = try _RSA.Signing.PrivateKey(pemRepresentation: pem)
        let digest = SHA256.hash(data: Data(input.utf8))
        return signed(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
    }

    private var input: String {
        "\(base64URL(header.bytes)).\(base64URL(claims.bytes))"
    }

    private func signed(_ signature: Data) -> String {
        "\(input).\(base64URL(Array(signature)))"
    }

    private func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// A provider token as APNs wants it, with what a test changes.
func providerToken(
    _ key: APNsSigningKey,
    age: Int64 = 60,
    header: JSONMembers = [:],
    claims: JSONMembers = [:]
) throws -> String {
    let writer = TokenWriter(
        header: .object((["alg": "ES256", "kid": .string(key.keyId)] as JSONMembers).merging(header) { $1 }),
        claims: .object((["iss": .string(key.teamId), "iat": .integer(Int64(noon.seconds - age))] as JSONMembers).merging(claims) { $1 })
    )
    return try writer.es256(key.privateKeyPEM)
}
