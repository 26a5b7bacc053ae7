package import Hummingbird

/// Tells who makes a request.
package protocol Authenticator: Sendable {
    /// The caller; nil when the request carries no credentials (or a stale cookie).
    ///
    /// Throws `Problem` when it carries some that do not hold, or when the caller's quota is used up.
    func authenticate(_ request: Request) async throws -> Caller?
}
