import PushContract
import ServiceKit

/// Checks provider tokens (JWT, ES256) as Apple does: header `alg` and `kid`, claims `iss` and `iat`, the signature, the age.
///
/// Signatures already checked are remembered by the caller: a sender uses one token for most of an hour.
struct APNsAuthorization: Sendable {
    /// Older tokens are refused ("Establishing a token-based connection to APNs").
    static let maximumAge: Int64 = 3600
    /// Seconds between two provider tokens of one connection.
    static let minimumRenewal: Int64 = 1200
    /// How far ahead of ours a sender's clock may be. Not documented; a minute is what clocks drift.
    static let allowedClockLead: Int64 = 60

    let keys: [APNsTrustedKey]

    /// What a provider token says once its signature is checked; the age is not looked at.
    func provider(of compact: String) throws(APNsRefusal) -> APNsProvider {
        guard let token = SignedToken(compact) else {
            throw APNsRefusal(.invalidProviderToken, "the provider token is not a JSON web token")
        }
        guard token.header["alg"]?.string == "ES256" else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's alg must be ES256")
        }
        guard let key = keys.first(where: { $0.keyId == token.header["kid"]?.string }) else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's kid is not a key of this simulator")
        }
        guard token.claims["iss"]?.string == key.teamId else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iss is not the key's team")
        }
        guard let issuedAt = token.claims["iat"]?.integer else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iat must be a whole number of seconds")
        }
        guard token.isSigned(by: key.publicKey) else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's signature does not fit its key")
        }
        return APNsProvider(keyId: key.keyId, teamId: key.teamId, issuedAt: issuedAt, bundles: key.bundles)
    }

    static func checkAge(of provider: APNsProvider, now: Timestamp) throws(APNsRefusal) {
        let age = now.seconds - provider.issuedAt
        if age > maximumAge {
            throw APNsRefusal(.expiredProviderToken, "the provider token is \(age) s old; at most \(maximumAge) s are allowed")
        }
        if age < -allowedClockLead {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iat is \(-age) s in the future")
        }
    }
}
