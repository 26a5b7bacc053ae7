import Audit
package import HTTPServer
package import Hummingbird
package import Postgres
package import PushContract
import ServiceKit

/// Signs people in to the on-call site, finds who is signed in, and signs them out.
package struct Sessions: Sendable {
    private let keys: KeyAuthenticator
    private let pool: PostgresPool
    private let store: SessionStore
    private let readers: SessionStore
    private let tickets: SignInTickets
    private let cookie: SessionCookie
    private let limits: SessionLimits

    /// - Parameter readers: for pages. Who acts on an alert does not wait for what others read.
    package init(
        keys: KeyAuthenticator,
        pool: PostgresPool,
        readers: PostgresPool? = nil,
        isSecure: Bool,
        limits: SessionLimits = SessionLimits()
    ) {
        self.keys = keys
        self.pool = pool
        self.limits = limits
        store = SessionStore(pool)
        self.readers = SessionStore(readers ?? pool)
        tickets = SignInTickets(pool)
        cookie = SessionCookie(isSecure: isSecure, limits: limits)
    }

    /// The `Set-Cookie` for the holder of this key. Throws 401 for an unknown key, 403 for one that may not read alerts, 422 for what is no
    /// person's name.
    package func open(key text: String, person: String, now: Timestamp) async throws -> String {
        guard let key = try await keys.key(for: text, now: now) else {
            throw Problem.unauthenticated("This API key is not known, or was revoked.")
        }
        guard PersonName.isOne(person) else {
            throw Problem.invalid("Give your name in 1 to 100 visible characters: what you do here is recorded under it.", pointer: "/name")
        }
        return try await open(key, person: person, now: now)
    }

    /// The `Set-Cookie` for the holder of this ticket. Throws 401 for one that has expired or was used before.
    package func open(ticket: String, now: Timestamp) async throws -> String {
        guard let (keyId, person) = try await tickets.redeem(ticket, now: now), let key = try await keys.activeKey(id: keyId, now: now)
        else {
            throw Problem.unauthenticated("This sign-in link has expired or was used before. Sign in with an API key.")
        }
        return try await open(key, person: person, now: now)
    }

    /// Who makes this request; nil without a session's cookie, and for a session that has ended.
    func caller(of request: Request, now: Timestamp) async throws -> Caller? {
        let store = request.method == .get || request.method == .head ? readers : store
        guard let secret = cookie.secret(of: request), let session = try await store.find(secret: secret),
            session.end(limits, now: now) == nil, let key = try await keys.activeKey(id: session.keyId, now: now),
            session.bootstrapProof == keys.bootstrapProof(keyId: key.id, sessionSecret: secret)
        else { return nil }
        // A note that fails (a full disk) must not sign anybody out.
        if now - session.lastUsedAt >= .seconds(60) { try? await store.touch(id: session.id, now: now) }
        return .session(id: session.id, keyId: key.id, name: "\(session.person) (\(key.name))", scopes: key.scopes)
    }

    /// Ends the session of this request, if it has one. The `Set-Cookie` that deletes its cookie.
    package func close(_ request: Request, now: Timestamp) async throws -> String {
        if let caller = try await caller(of: request, now: now), case .session(let id, _, _, _) = caller {
            _ = try await end(id: id, by: caller, now: now)
        }
        return cookie.clear()
    }

    /// Who is signed in, the last sign-in first.
    package func open(now: Timestamp) async throws -> [Session] {
        let keyIds = try await keys.sessionKeyIds(now: now)
        return try await store.list().filter { $0.end(limits, keyIds: keyIds, now: now) == nil }
    }

    /// Ends a session at once, at every instance. False when it has ended before.
    package func end(id: String, by caller: Caller, now: Timestamp) async throws -> Bool {
        try await pool.withTransaction { transaction in
            guard let session = try await SessionStore(transaction).end(id: id, by: caller.name, now: now) else { return false }
            try await AuditRecorder(caller, at: now).note(.endSession, id, before: session.audited, on: transaction)
            return true
        }
    }

    private func open(_ key: APIKey, person: String, now: Timestamp) async throws -> String {
        guard key.scopes.contains(.alertsRead) else { throw Problem.missingScope(.alertsRead) }
        guard key.apps == .all else {
            throw Problem.forbidden("A key that is limited to apps opens no session. Use one without that limit.")
        }
        let secret = Base64URL.encode(Secrets.random(32))
        let session = Session(
            id: Secrets.randomId(),
            keyId: key.id,
            person: person,
            createdAt: now,
            lastUsedAt: now,
            bootstrapProof: keys.bootstrapProof(keyId: key.id, sessionSecret: secret)
        )
        let caller = Caller.session(id: session.id, keyId: key.id, name: "\(person) (\(key.name))", scopes: key.scopes)
        try await pool.withTransaction { transaction in
            try await SessionStore(transaction).insert(session, secret: secret)
            try await AuditRecorder(caller, at: now).note(.openSession, session.id, after: session.audited, on: transaction)
        }
        return cookie.set(secret)
    }
}
