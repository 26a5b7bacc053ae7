import JWTKit
import PushContract

/// The claims of an app user's token that we look at.
struct UserClaims: JWTPayload, Equatable {
    var iss: String?
    var sub: String?
    var aud: AudienceClaim?
    /// Seconds since 1970; fractions are allowed (RFC 7519 §2).
    var exp: Double?
    var nbf: Double?
    /// Cognito's access tokens have no `aud`; this names the app client.
    var clientId: String?
    /// Cognito: `access` or `id`.
    var tokenUse: String?

    enum CodingKeys: String, CodingKey {
        case iss, sub, aud, exp, nbf
        case clientId = "client_id"
        case tokenUse = "token_use"
    }

    /// Everything is checked by `refusal`, which takes the time as an argument.
    func verify(using algorithm: some JWTAlgorithm) {}
}

extension UserClaims {
    /// Clocks of two machines may differ by this much.
    static let leeway = 60.0

    /// Why the token is invalid, fit for its sender; nil when it is valid.
    ///
    /// - Parameter audience: nil: of any audience of the issuer.
    func refusal(issuer: String, audience: String?, now: Timestamp) -> String? {
        let seconds = Double(now.microseconds) / 1e6
        guard iss == issuer else { return "The token is from another issuer." }
        guard [nil, "access", "id"].contains(tokenUse) else { return "The token's token_use is neither access nor id." }
        if let audience, !isFor(audience) { return "The token is for another audience." }
        guard let exp else { return "The token has no exp." }
        guard seconds < exp + Self.leeway else { return "The token has expired. Get a new one." }
        if let nbf, seconds < nbf - Self.leeway { return "The token is not valid yet." }
        guard let sub, Self.isUserId(sub) else { return "The token's sub is not a user id: 1 to 256 characters, no control characters." }
        return nil
    }

    /// `aud`; of an access token without one, `client_id`.
    private func isFor(_ audience: String) -> Bool {
        if let aud { return aud.value.contains(audience) }
        return tokenUse == "access" && clientId == audience
    }

    /// The contract's rule for `uid`.
    private static func isUserId(_ sub: String) -> Bool {
        (1...256).contains(sub.unicodeScalars.count) && !sub.hasControlCharacter
    }
}
