package import Hummingbird

/// How people get and lose a session. Each answer is the value of a `Set-Cookie` header (HttpOnly, SameSite=Strict).
package struct SignInHandler: Sendable {
    /// A session for an API key. Throws `Problem` when the key is invalid or may not read alerts.
    var openWithKey: @Sendable (_ key: String) async throws -> String
    /// A session for a one-time ticket. Throws `Problem` when it was used, or is too old.
    var openWithTicket: @Sendable (_ ticket: String) async throws -> String
    /// The cookie that ends the session of this request.
    package var close: @Sendable (_ request: Request) async throws -> String

    package init(
        openWithKey: @escaping @Sendable (String) async throws -> String,
        openWithTicket: @escaping @Sendable (String) async throws -> String,
        close: @escaping @Sendable (Request) async throws -> String
    ) {
        self.openWithKey = openWithKey
        self.openWithTicket = openWithTicket
        self.close = close
    }
}
