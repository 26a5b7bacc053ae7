package import HTTPServer
import HTTPTypes
package import Hummingbird
package import PushContract

/// Who makes a request: an API key or an app user's token as `Authorization: Bearer`, or the session cookie.
///
/// An invalid Bearer credential is 401 even with a valid cookie. An invalid cookie counts as none.
package struct AccessAuthenticator: Authenticator {
    private let keys: KeyAuthenticator
    private let users: UserTokenVerifier?
    private let sessions: SessionCookie?
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - users: nil where no issuer is configured; app users are then refused.
    ///   - sessions: nil for servers without pages.
    package init(
        keys: KeyAuthenticator,
        users: UserTokenVerifier?,
        sessions: SessionCookie?,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.keys = keys
        self.users = users
        self.sessions = sessions
        self.now = now
    }

    package func authenticate(_ request: Request) async throws -> Caller? {
        let now = now()
        guard let header = request.headers[.authorization] else { return try await session(request, now: now) }
        guard let token = Self.bearer(header) else { throw Problem.unauthenticated() }
        if let key = try await keys.key(for: token, now: now) {
            try keys.spend(key, now: now)
            return .key(id: key.id, name: key.name, scopes: key.scopes, apps: key.apps)
        }
        if DeviceSecretText.isOne(token) { return .deviceSecret(hash: Secrets.sha256(token)) }
        guard let users, token.hasPrefix("ey") else {
            throw Problem.unauthenticated("This API key is not known, or was revoked.")
        }
        return .user(userId: try await users.userId(of: token, now: now))
    }

    private func session(_ request: Request, now: Timestamp) async throws -> Caller? {
        guard let sessions, let cookie = request.cookies[SessionCookie.name],
            let keyId = sessions.keyId(of: cookie.value, now: now),
            let key = try await keys.activeKey(id: keyId, now: now)
        else { return nil }
        guard Self.isSameOrigin(request) else { throw Problem.forbidden("Forms of other sites may not act here.") }
        return .session(id: key.id, name: key.name, scopes: key.scopes)
    }

    /// SameSite=Strict keeps other sites out; this also keeps out other hosts of the same site.
    private static func isSameOrigin(_ request: Request) -> Bool {
        if [.get, .head].contains(request.method) { return true }
        guard let name = HTTPField.Name("Sec-Fetch-Site"), let from = request.headers[name] else { return true }
        return from == "same-origin" || from == "none"
    }

    /// The credential of a Bearer header; the scheme's case does not matter (RFC 9110 §11.1).
    static func bearer(_ header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = String(parts[1].drop { $0 == " " })
        return token.isEmpty ? nil : token
    }
}
