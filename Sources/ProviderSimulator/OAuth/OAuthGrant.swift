import CryptoExtras
import Foundation
import PushContract
import ServiceKit

/// Checks an OAuth token request as Google does for service accounts (JWT bearer grant, RFC 7523). Pure.
struct OAuthGrant: Sendable {
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// Scopes that let an account send.
    static let scopes: Set<String> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    /// Google's words: a reasonable timeframe. Seconds a sender's clock may be ahead.
    static let allowedClockLead: Int64 = 60
    static let maximumLifetime: Int64 = 3600

    let accounts: [GoogleTrustedAccount]
    /// The values `aud` may have: this endpoint, under each of its names.
    let audiences: Set<String>

    /// - Returns: the account to issue an access token for.
    func check(_ request: SimulatedRequest, now: Timestamp) throws(OAuthRefusal) -> GoogleTrustedAccount {
        let form = Self.form(request.body)
        guard request.header("content-type")?.hasPrefix("application/x-www-form-urlencoded") == true else {
            throw OAuthRefusal("invalid_request", "The content type must be application/x-www-form-urlencoded.")
        }
        guard form["grant_type"] == Self.grantType else {
            throw OAuthRefusal("unsupported_grant_type", "Invalid grant_type: \(form["grant_type"] ?? "")")
        }
        guard let assertion = form["assertion"] else {
            throw OAuthRefusal("invalid_request", "Missing required parameter: assertion")
        }
        let token = try signed(assertion)
        let account = try account(of: token)
        try checkTimes(of: token, now: now)
        guard let audience = token.claims["aud"]?.string, audiences.contains(audience) else {
            throw OAuthRefusal("invalid_grant", "Invalid JWT: Failed audience check. The right audience is \(audiences.sorted()[0])")
        }
        let scopes = (token.claims["scope"]?.string ?? "").split(separator: " ").map(String.init)
        guard !scopes.isEmpty, Self.scopes.isSuperset(of: scopes) else {
            throw OAuthRefusal("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        }
        return account
    }

    private func signed(_ assertion: String) throws(OAuthRefusal) -> SignedToken {
        guard let token = SignedToken(assertion), token.header["alg"]?.string == "RS256" else {
            throw OAuthRefusal("invalid_grant", "Bad Request")
        }
        return token
    }

    private func account(of token: SignedToken) throws(OAuthRefusal) -> GoogleTrustedAccount {
        // One for each key of the account.
        let known = accounts.filter { $0.clientEmail == token.claims["iss"]?.string }
        guard !known.isEmpty else { throw OAuthRefusal("invalid_grant", "Invalid grant: account not found") }
        let keyId = token.header["kid"]
        let signing = known.first { (keyId == nil || keyId?.string == $0.privateKeyId) && token.isSigned(by: $0.publicKey) }
        guard let signing else { throw OAuthRefusal("invalid_grant", "Invalid JWT Signature.") }
        return signing
    }

    private func checkTimes(of token: SignedToken, now: Timestamp) throws(OAuthRefusal) {
        guard let issuedAt = token.claims["iat"]?.integer, let expiry = token.claims["exp"]?.integer,
            expiry <= issuedAt + Self.maximumLifetime, expiry > now.seconds, issuedAt <= now.seconds + Self.allowedClockLead
        else {
            throw OAuthRefusal(
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim."
            )
        }
    }

    /// `application/x-www-form-urlencoded`: pairs by `&`, `+` is a space, then percent-encoding.
    static func form(_ body: [UInt8]) -> [String: String] {
        var values: [String: String] = [:]
        for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.replacing("+", with: " ").removingPercentEncoding ?? "" }
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        return values
    }
}

/// A refusal of the token endpoint.
struct OAuthRefusal: Error, Sendable, Hashable {
    let error: String
    let description: String

    init(_ error: String, _ description: String) {
        self.error = error
        self.description = description
    }
}
