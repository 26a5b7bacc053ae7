import HTTPServer
package import PushContract

/// Signs people in to the on-call page: with an API key typed into a form, or with a ticket from a link.
package struct SignIn: Sendable {
    private let keys: KeyAuthenticator
    private let cookie: SessionCookie
    private let tickets: SignInTicket

    package init(keys: KeyAuthenticator, cookie: SessionCookie, tickets: SignInTicket) {
        self.keys = keys
        self.cookie = cookie
        self.tickets = tickets
    }

    /// The `Set-Cookie` for the holder of this key. Throws 401 for an unknown key, 403 for one that may not read alerts.
    package func withKey(_ text: String, now: Timestamp) async throws -> String {
        guard let key = try await keys.key(for: text, now: now) else {
            throw Problem.unauthenticated("This API key is not known, or was revoked.")
        }
        return try open(key, now: now)
    }

    /// The `Set-Cookie` for the holder of this ticket. Throws 401 for one that has expired or was used before.
    package func withTicket(_ ticket: String, now: Timestamp) async throws -> String {
        guard let keyId = try await tickets.redeem(ticket, now: now), let key = try await keys.activeKey(id: keyId, now: now) else {
            throw Problem.unauthenticated("This sign-in link has expired or was used before. Sign in with an API key.")
        }
        return try open(key, now: now)
    }

    private func open(_ key: APIKey, now: Timestamp) throws(Problem) -> String {
        guard key.scopes.contains(.alertsRead) else { throw .missingScope(.alertsRead) }
        guard key.apps == .all else { throw .forbidden("A key that is limited to apps opens no session. Use one without that limit.") }
        return cookie.setCookie(keyId: key.id, now: now)
    }
}
