package import HTTPServer
package import Hummingbird
package import PushContract

/// Who makes a request: an API key or an app user's token as `Authorization: Bearer`, or the session cookie.
///
/// An invalid Bearer credential is 401 even with a valid cookie. An invalid cookie counts as none.
package struct AccessAuthenticator: Authenticator {
    private let keys: KeyAuthenticator
    private let users: UserTokenVerifier?
    private let sessions: Sessions?
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - users: nil where no issuer is configured; app users are then refused.
    ///   - sessions: nil for servers without pages.
    package init(
        keys: KeyAuthenticator,
        users: UserTokenVerifier?,
        sessions: Sessions?,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.keys = keys
        self.users = users
        self.sessions = sessions
        self.now = now
    }

    package func authenticate(_ request: Request) async throws -> Caller? {
        let now = now()
        guard let header = request.headers.value(of: .authorization) else { return try await session(request, now: now) }
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
        guard let caller = try await sessions?.caller(of: request, now: now) else { return nil }
        try SameOrigin.requireIfUnsafe(request)
        return caller
    }

    /// The credential of a Bearer header; the scheme's case does not matter (RFC 9110 §11.1).
    static func bearer(_ header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = String(parts[1].drop { $0 == " " })
        return token.isEmpty ? nil : token
    }
}
