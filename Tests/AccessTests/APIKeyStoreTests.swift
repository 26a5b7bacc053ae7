import HTTPServer
import HTTPTypes
import Hummingbird
import Logging
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Access

@Suite struct APIKeyStoreTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private let logger = Logger(label: "test")

    private func request(_ headers: HTTPFields) -> Request {
        Request(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/", headerFields: headers),
            body: .init(buffer: .init())
        )
    }

    @Test("a key is stored without its secret, found by its text, listed and revoked")
    func lifecycle() async throws {
        try await withDatabase { pool in
            let store = APIKeyStore(pool)
            let (key, text) = try await store.create(
                name: "sender",
                scopes: [.attemptsWrite, .sendsWrite],
                quotaPerMinute: 60,
                createdBy: "test",
                now: now
            )
            #expect(try await store.find(text) == key)
            #expect(try await store.list() == [key])
            let other = try #require(APIKeyText("pw_\(key.id)_\(String(repeating: "a", count: 43))"))
            #expect(try await store.find(other) == nil)
            #expect(try await store.find(.generate()) == nil)
            #expect(try await store.revoke(id: key.id, now: now)?.revokedAt == now)
            #expect(try await store.revoke(id: key.id, now: now) == nil)
            #expect(try await store.find(text) == nil)
            #expect(try await store.find(id: key.id)?.revokedAt == now)
            let stored = try await pool.query("SELECT apiKeys::text FROM apiKeys").first?.decode(String.self)
            #expect(stored?.contains(text.secret) == false)
        }
    }

    @Test("a revoked key works for less than 30 seconds more; its sessions end with it")
    func revocation() async throws {
        try await withDatabase { pool in
            let store = APIKeyStore(pool)
            let (key, text) = try await store.create(name: "a", scopes: [.alertsRead], createdBy: "test", now: now)
            let keys = KeyAuthenticator(store: store, logger: logger)
            let sessions = Sessions(keys: keys, pool: pool, isSecure: false)
            let cookie = String(try await sessions.open(key: text.text, person: "ana", now: now).prefix { $0 != ";" })
            #expect(try await sessions.caller(of: request([.cookie: cookie]), now: now) != nil)
            #expect(try await keys.key(for: text.text, now: now)?.id == key.id)
            #expect(try await keys.activeKey(id: key.id, now: now)?.id == key.id)
            #expect(try await store.find(id: key.id)?.lastUsedAt == now)
            try await store.revoke(id: key.id, now: now)
            #expect(try await keys.key(for: text.text, now: now + .seconds(29)) != nil)
            #expect(try await keys.key(for: text.text, now: now + .seconds(30)) == nil)
            #expect(try await keys.activeKey(id: key.id, now: now + .seconds(30)) == nil)
            #expect(try await sessions.caller(of: request([.cookie: cookie]), now: now + .seconds(30)) == nil)
        }
    }

    @Test("an expired key is 401 and says so, from the moment it expires, to who has its secret; a wrong secret is only unknown")
    func expiry() async throws {
        try await withDatabase { pool in
            let store = APIKeyStore(pool)
            let end = now + .seconds(10)
            let (key, text) = try await store.create(name: "a", scopes: [.alertsRead], expiresAt: end, createdBy: "test", now: now)
            #expect(try await store.list() == [key] && key.expiresAt == end)
            let keys = KeyAuthenticator(store: store, logger: logger)
            #expect(try await keys.key(for: text.text, now: end - .microseconds(1)) == key)
            #expect(try await keys.activeKey(id: key.id, now: end - .microseconds(1)) != nil)
            // The cache is still fresh.
            let expired = await #expect(throws: Problem.self) { try await keys.key(for: text.text, now: end) }
            #expect(expired?.code == "key_expired" && expired?.status == .unauthorized)
            #expect(expired?.detail.contains("expired at \(end.rfc3339)") == true)
            #expect(try await keys.activeKey(id: key.id, now: end) == nil, "its sessions end with it")
            let other = "pw_\(key.id)_\(String(repeating: "a", count: 43))"
            #expect(try await keys.key(for: other, now: end) == nil)
            try await store.revoke(id: key.id, now: end)
            #expect(try await keys.key(for: text.text, now: end + .seconds(60)) == nil, "revoked says more than expired")
        }
    }

    @Test("a rotated key and its replacement both work in the overlap, then the new one alone; it may do the same; once only")
    func rotation() async throws {
        try await withDatabase { pool in
            let store = APIKeyStore(pool)
            let (old, oldText) = try await store.create(
                name: "a",
                scopes: [.sendsWrite],
                quotaPerMinute: 60,
                apps: .only(["com.a", "com.b"]),
                createdBy: "ann",
                now: now
            )
            let later = now + .seconds(100)
            let made = try await store.rotate(id: old.id, overlap: .seconds(1_000), createdBy: "ben", now: later)
            let new = made.replacement
            #expect((new.name, new.scopes, new.quotaPerMinute, new.apps) == (old.name, old.scopes, old.quotaPerMinute, old.apps))
            #expect((new.createdAt, new.createdBy, new.replaces, new.expiresAt) == (later, "ben", old.id, nil))
            #expect(made.before == old && made.old.expiresAt == later + .seconds(1_000))
            #expect(try await store.list() == [new, made.old])
            let keys = KeyAuthenticator(store: store, logger: logger)
            for text in [oldText, made.text] { #expect(try await keys.key(for: text.text, now: later + .seconds(999)) != nil) }
            let expired = await #expect(throws: Problem.self) { try await keys.key(for: oldText.text, now: later + .seconds(1_000)) }
            #expect(expired?.code == "key_expired")
            #expect(try await keys.key(for: made.text.text, now: later + .seconds(1_000))?.id == new.id)
            await #expect(throws: APIKeyStore.Refusal.replaced(by: new.id)) {
                try await store.rotate(id: old.id, overlap: .zero, createdBy: "ben", now: later)
            }
            await #expect(throws: APIKeyStore.Refusal.notActive("none")) {
                try await store.rotate(id: "none", overlap: .zero, createdBy: "ben", now: later)
            }
            try await store.revoke(id: new.id, now: later)
            await #expect(throws: APIKeyStore.Refusal.notActive(new.id)) {
                try await store.rotate(id: new.id, overlap: .zero, createdBy: "ben", now: later)
            }
        }
    }

    @Test("a key that is limited to apps calls with that limit, and opens no session")
    func limited() async throws {
        try await withDatabase { pool in
            let store = APIKeyStore(pool)
            let apps = KeyApps.only(["com.a"])
            let (key, text) = try await store.create(name: "a", scopes: [.alertsRead], apps: apps, createdBy: "test", now: now)
            let keys = KeyAuthenticator(store: store, logger: logger)
            let now = now
            let access = AccessAuthenticator(keys: keys, users: nil, sessions: nil, now: { now })
            #expect(try await access.authenticate(request([.authorization: "Bearer \(text.text)"]))?.apps == apps)
            #expect(try await keys.activeKey(id: key.id, now: now) == nil)
            let sessions = Sessions(keys: keys, pool: pool, isSecure: false)
            let refused = await #expect(throws: Problem.self) { try await sessions.open(key: text.text, person: "ana", now: now) }
            #expect(refused?.code == "forbidden")
        }
    }

    @Test("the authenticator takes keys within their quota, and sessions; it refuses what does not hold")
    func authenticator() async throws {
        try await withDatabase { pool in
            let store = APIKeyStore(pool)
            let (key, text) = try await store.create(
                name: "a",
                scopes: [.alertsRead],
                quotaPerMinute: 1,
                createdBy: "test",
                now: now
            )
            let keys = KeyAuthenticator(store: store, bootstrap: try BootstrapKey("a-long-enough-bootstrap-key"), logger: logger)
            let sessions = Sessions(keys: keys, pool: pool, isSecure: false)
            let now = now
            let access = AccessAuthenticator(keys: keys, users: nil, sessions: sessions, now: { now })
            let bearer: HTTPFields = [.authorization: "Bearer \(text.text)"]
            #expect(try await access.authenticate(request(bearer)) == .key(id: key.id, name: "a", scopes: [.alertsRead]))
            let quota = await #expect(throws: Problem.self) { try await access.authenticate(request(bearer)) }
            #expect(quota?.code == "quota_exceeded")
            let unknown: HTTPFields = [.authorization: "Bearer \(APIKeyText.generate().text)"]
            let refused = await #expect(throws: Problem.self) { try await access.authenticate(request(unknown)) }
            #expect(refused?.code == "unauthenticated")
            let bootstrap: HTTPFields = [.authorization: "Bearer a-long-enough-bootstrap-key"]
            #expect(try await access.authenticate(request(bootstrap))?.scopes == Set(Scope.allScopes))
            #expect(try await access.authenticate(request([:])) == nil)
            let pair = try await sessions.open(key: text.text, person: "ana", now: now).prefix { $0 != ";" }
            let caller = try await access.authenticate(request([.cookie: String(pair)]))
            #expect(caller?.name == "ana (a)" && caller?.scopes == [.alertsRead])
            #expect(try await access.authenticate(request([.cookie: "pushwatch_session=x.1.y"])) == nil)
        }
    }
}
