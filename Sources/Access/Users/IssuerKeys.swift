import Foundation
import JWTKit

/// The public keys of the issuer of user tokens, by id, each for exactly one algorithm.
///
/// Keys of other kinds, for encryption, or too weak (RSA under 2,048 bits) are left out rather than failing the whole set.
struct IssuerKeys: Sendable {
    /// The bytes are not a JWKS with at least one usable key.
    struct Unusable: Error, CustomStringConvertible {
        var description: String { "no JWKS with a usable key: RSA from 2,048 bits for RS256, or P-256 for ES256" }
    }

    private struct Document: Decodable {
        var keys: [Entry]
    }

    /// Decodes to nil instead of failing: unknown key types are to be ignored (RFC 7517 §5).
    private struct Entry: Decodable {
        var key: JWK?
        var use: String?

        enum CodingKeys: String, CodingKey { case use }

        init(from decoder: any Decoder) throws {
            key = try? JWK(from: decoder)
            use = try? decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .use)
        }
    }

    private struct Verifier: Sendable {
        var algorithm: String
        var keys: JWTKeyCollection
    }

    private var byId: [String: Verifier] = [:]

    init(jwks bytes: [UInt8]) async throws {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else { throw Unusable() }
        for entry in document.keys where entry.use == nil || entry.use == "sig" {
            guard var key = entry.key, let algorithm = Self.algorithm(of: key) else { continue }
            let id = key.keyIdentifier ?? JWKIdentifier(string: "")
            key.algorithm = algorithm
            key.keyIdentifier = id
            let keys = JWTKeyCollection()
            guard (try? await keys.add(jwk: key, isDefault: true)) != nil else { continue }
            byId[id.string] = Verifier(algorithm: algorithm.rawValue, keys: keys)
        }
        guard !byId.isEmpty else { throw Unusable() }
    }

    /// True when the set has a key for this header. A token without `kid` fits a set of one key only.
    func canVerify(_ header: TokenHeader) -> Bool { verifier(header) != nil }

    /// The claims of a token whose signature is valid.
    func claims(of token: String, _ header: TokenHeader) async throws -> UserClaims {
        guard let verifier = verifier(header) else { throw JWTError.noKeyProvided }
        return try await verifier.keys.verify(token, as: UserClaims.self)
    }

    /// The key's own algorithm decides, never the header's wish (RFC 8725 §3.1).
    private func verifier(_ header: TokenHeader) -> Verifier? {
        let verifier = header.kid.map { byId[$0] } ?? (byId.count == 1 ? byId.values.first : nil)
        return verifier?.algorithm == header.alg ? verifier : nil
    }

    private static func algorithm(of key: JWK) -> JWK.Algorithm? {
        switch key.keyType {
        case .rsa where (key.modulus?.utf8.count ?? 0) >= 342 && [nil, .rs256].contains(key.algorithm): .rs256
        case .ecdsa where key.curve == .ecdsa(.p256) && [nil, .es256].contains(key.algorithm): .es256
        default: nil
        }
    }
}
