package import Hummingbird

/// Finds out who makes a request.
package protocol Authenticator: Sendable {
    /// The caller; nil when the request carries no credentials (or a stale cookie).
    ///
    /// Throws `Problem` when it carries invalid ones, or when the caller's quota is used up.
    func authenticate(_ request: Request) async throws -> Caller?
}
