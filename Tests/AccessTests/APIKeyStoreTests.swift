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
            #expect(try await store.revoke(id: key.id, now: now))
            #expect(try await store.revoke(id: key.id, now: now) == false)
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
            let sessions = Sessions(
                keys: keys,
                store: SessionStore(pool),
                tickets: SignInTickets(pool),
                audit: AuditLog(pool).trail,
                isSecure: false
            )
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
            let sessions = Sessions(
                keys: keys,
                store: SessionStore(pool),
                tickets: SignInTickets(pool),
                audit: AuditLog(pool).trail,
                isSecure: false
            )
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
