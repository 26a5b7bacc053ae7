import HTTPServer
package import Logging
package import PushContract
import Synchronization

/// The caller of an API key, and whether its quota is used up. Safe to share.
package final class KeyAuthenticator: Sendable {
    private struct State {
        var cache = KeyCache()
        var quotas: [String: TokenBucket] = [:]
    }

    private let store: APIKeyStore
    private let bootstrap: BootstrapKey?
    private let logger: Logger
    private let state = Mutex(State())

    package init(store: APIKeyStore, bootstrap: BootstrapKey? = nil, logger: Logger) {
        self.store = store
        self.bootstrap = bootstrap
        self.logger = logger
    }

    /// The key that the text opens; nil when it opens none. Throws 401 for an expired key, only if its secret is right. Also throws when
    /// the database must be asked and is away.
    package func key(for text: String, now: Timestamp) async throws -> APIKey? {
        if let bootstrap, bootstrap.matches(text) { return bootstrap.key }
        guard let parsed = APIKeyText(text) else { return nil }
        let key = try await cached(Secrets.sha256(text), now: now) { try await self.store.find(parsed) }
        // By this server's clock at each request, so that the cache prolongs nothing.
        if case .expired(let end) = key?.state(at: now) { throw Problem.keyExpired(at: end) }
        return key
    }

    /// The key with this id, if it still opens anything; for sessions, which outlive no key.
    func activeKey(id: String, now: Timestamp) async throws -> APIKey? {
        if let bootstrap, id == BootstrapKey.id { return bootstrap.key }
        let key = try await cached(Secrets.sha256("id:" + id), now: now) { try await self.store.find(id: id) }
        guard let key, key.hasSessions(at: now) else { return nil }
        return key
    }

    /// The keys for which `activeKey` has an answer, without a note that they were used.
    func sessionKeyIds(now: Timestamp) async throws -> Set<String> {
        let stored = try await store.sessionKeyIds(now: now)
        return bootstrap == nil ? stored : stored.union([BootstrapKey.id])
    }

    /// The proof that a session with this secret was opened with the present bootstrap key; nil for a stored key.
    func bootstrapProof(keyId: String, sessionSecret: String) -> [UInt8]? {
        keyId == BootstrapKey.id ? bootstrap?.proof(sessionSecret: sessionSecret) : nil
    }

    /// Takes one request from the key's quota, or throws 429. Quotas are counted by each server for itself.
    func spend(_ key: APIKey, now: Timestamp) throws(Problem) {
        guard let perMinute = key.quotaPerMinute else { return }
        let wait = state.withLock { state in
            var bucket = state.quotas[key.id] ?? TokenBucket(perMinute: perMinute, now: now)
            if bucket.perMinute != perMinute { bucket = TokenBucket(perMinute: perMinute, now: now) }
            defer { state.quotas[key.id] = bucket }
            return bucket.take(now: now)
        }
        if let wait { throw .quotaExceeded(perMinute: perMinute, retryAfter: wait) }
    }

    private func cached(_ hash: [UInt8], now: Timestamp, ask: () async throws -> APIKey?) async throws -> APIKey? {
        if let answer = state.withLock({ $0.cache.answer(for: hash, now: now) }) { return answer }
        let key = try await ask()
        state.withLock { $0.cache.store(key, for: hash, asked: now) }
        if let key, key.state(at: now) == .active { await touch(key, now: now) }
        return key
    }

    /// A note that fails must not keep anybody out.
    private func touch(_ key: APIKey, now: Timestamp) async {
        do {
            try await store.touch(id: key.id, now: now)
        } catch {
            logger.debug("the last use of a key could not be noted", metadata: ["keyId": "\(key.id)", "error": "\(error)"])
        }
    }
}
