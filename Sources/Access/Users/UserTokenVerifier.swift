import HTTPServer
package import Logging
package import PushContract
import ServiceKit

/// Verifies app users' tokens (JWT, RS256 or ES256) against the keys of one issuer.
///
/// Keys are loaded by `keep`, and when a token names a key that is not there; at most one load a minute, however many such tokens come.
/// While loading fails, the keys last loaded stay in use.
package actor UserTokenVerifier {
    /// Gets the bytes of the issuer's JWKS, from a file or over HTTPS. Has to end in a few seconds.
    package typealias Loader = @Sendable () async throws -> [UInt8]

    private let issuer: String
    private let audience: String?
    private let load: Loader
    private let logger: Logger
    private var keys: IssuerKeys?
    private var tried: Timestamp?
    /// Why the newest load failed: the keys are those of one before.
    private var failure: String?
    private var hasFailed: Bool { failure != nil }
    private var isLoading = false
    private let loading = SharedWork<Void>()

    private static let minimumAge = Duration.seconds(60)
    private static let maximumAge = Duration.seconds(600)

    package init(issuer: String, audience: String?, logger: Logger, load: @escaping Loader) {
        self.issuer = issuer
        self.audience = audience
        self.load = load
        self.logger = logger
    }

    /// The user's id. Throws 401 for an invalid token, 503 while there are no keys.
    package func userId(of token: String, now: Timestamp) async throws -> String {
        guard let header = TokenHeader(token: token) else {
            throw Problem.unauthenticated("The token is not a JWT signed with RS256 or ES256.")
        }
        let keys = try await keys(for: header, now: now)
        guard let claims = try? await keys.claims(of: token, header) else {
            throw Problem.unauthenticated("The token's signature is invalid, or its key is not the issuer's.")
        }
        if let refusal = claims.refusal(issuer: issuer, audience: audience, now: now) { throw Problem.unauthenticated(refusal) }
        return claims.sub ?? ""
    }

    /// Why there are no keys; nil once some were loaded, and before the first load has ended.
    package var fault: String? { keys == nil ? failure : nil }

    /// Loads the keys if there are none, or those are ten minutes old: so that no user waits for them. Throws only when cancelled.
    package func keep(now: Timestamp) async throws {
        guard !isLoading, isDue(nil, now: now) else { return }
        try await loading.value { try await refresh(nil, now: now) }
    }

    private func keys(for header: TokenHeader, now: Timestamp) async throws -> IssuerKeys {
        // A user whose key is known does not wait for a load that another one began.
        if isLoading ? keys?.canVerify(header) != true : isDue(header, now: now) {
            try await loading.value { try await refresh(header, now: now) }
        }
        // A key that is not known may be new: its users are not to be signed out because the issuer does not answer.
        guard let keys, !hasFailed || keys.canVerify(header) else {
            throw Problem.unavailable("The keys of the user tokens' issuer cannot be loaded.", retryAfter: .seconds(10))
        }
        return keys
    }

    /// - Parameter header: of the token that needs a key; nil: any key will do.
    private func isDue(_ header: TokenHeader?, now: Timestamp) -> Bool {
        guard let tried else { return true }
        // In either direction: a clock that was ahead and is set back does not keep the keys for longer, and requests that come in another
        // order than their `now` do not load them again.
        let age = max(now - tried, tried - now)
        // Where a load failed the minimum age is lower: users wait for it.
        let canVerify = keys.map { keys in header.map { keys.canVerify($0) } ?? true } ?? false
        if keys == nil || hasFailed && !canVerify { return age >= .seconds(5) }
        return age >= Self.maximumAge || (age >= Self.minimumAge && !canVerify)
    }

    /// Throws only if the task is cancelled: then nothing is known of the issuer, and another user's request loads the keys.
    private func refresh(_ header: TokenHeader?, now: Timestamp) async throws {
        // Another one's load may have ended since this one was found to be due.
        guard isDue(header, now: now) else { return }
        isLoading = true
        defer { isLoading = false }
        do {
            keys = try await IssuerKeys(jwks: load())
            failure = nil
        } catch {
            try Task.checkCancellation()
            failure = "\(error)"
            logger.warning("the keys of the user tokens' issuer were not loaded", metadata: ["error": "\(error)", "issuer": "\(issuer)"])
        }
        tried = now
    }
}
