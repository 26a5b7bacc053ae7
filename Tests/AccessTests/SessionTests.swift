import Audit
import HTTPServer
import HTTPTypes
import Hummingbird
import Logging
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Access

@Suite("Sessions of people")
struct SessionTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private static let bootstrapKey = "a-long-enough-bootstrap-key"

    /// The service's parts over one database, as one instance has them.
    private struct Instance {
        let keys: KeyAuthenticator
        let sessions: Sessions
        let tickets: SignInTickets

        init(_ pool: PostgresPool, bootstrap: String = SessionTests.bootstrapKey) throws {
            let logger = Logger(label: "test")
            keys = KeyAuthenticator(store: APIKeyStore(pool), bootstrap: try BootstrapKey(bootstrap), logger: logger)
            tickets = SignInTickets(pool)
            sessions = Sessions(keys: keys, pool: pool, isSecure: true)
        }

        func caller(_ cookie: String, now: Timestamp) async throws -> Caller? {
            try await sessions.caller(of: request(cookie), now: now)
        }
    }

    private static func request(
        _ cookie: String,
        _ method: HTTPRequest.Method = .get,
        _ fields: [(String, String)] = []
    ) throws -> Request {
        var headers: HTTPFields = [.cookie: cookie]
        for (name, value) in fields { headers[try #require(HTTPField.Name(name))] = value }
        return Request(
            head: HTTPRequest(method: method, scheme: nil, authority: "push.example", path: "/", headerFields: headers),
            body: .init(buffer: .init())
        )
    }

    /// What a browser sends back of a `Set-Cookie`.
    private func cookie(_ header: String) -> String { String(header.prefix { $0 != ";" }) }

    private func withInstance(_ body: (Instance, PostgresPool) async throws -> Void) async throws {
        try await withDatabase { pool in try await body(try Instance(pool), pool) }
    }

    @Test("a session acts under the name that was given, with the rights of its key; its cookie is closed to scripts and other sites")
    func open() async throws {
        try await withInstance { instance, pool in
            let (key, text) = try await APIKeyStore(pool).create(name: "on-call", scopes: [.alertsRead], createdBy: "test", now: now)
            let header = try await instance.sessions.open(key: text.text, person: "Ana Núñez", now: now)
            #expect(header.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"))
            let caller = try #require(try await instance.caller(cookie(header), now: now))
            #expect(caller.name == "Ana Núñez (on-call)" && caller.scopes == [.alertsRead])
            let open = try await instance.sessions.open(now: now)
            #expect(open.map(\.person) == ["Ana Núñez"] && open.map(\.keyId) == [key.id])
            let entry = try #require(try await AuditLog(pool).latest(1).first)
            #expect((entry.actor, entry.action, entry.subject) == ("Ana Núñez (on-call)", .openSession, open[0].id))
        }
    }

    @Test("over HTTPS the cookie has the prefix that closes it to sibling hosts, and one without it opens nothing; over HTTP it has none")
    func prefix() async throws {
        try await withInstance { instance, pool in
            let name = "pushwatch_session="
            let header = try await instance.sessions.open(key: Self.bootstrapKey, person: "ana", now: now)
            #expect(header.hasPrefix("__Host-\(name)") && header.contains("; Path=/; ") && !header.contains("Domain"))
            let planted = String(cookie(header).dropFirst("__Host-".utf8.count))
            #expect(try await instance.caller(planted, now: now) == nil)
            let own = cookie(try await instance.sessions.open(key: Self.bootstrapKey, person: "bo", now: now))
            #expect(try await instance.caller("\(planted); \(own)", now: now)?.name.hasPrefix("bo ") == true)
            let plain = Sessions(keys: instance.keys, pool: pool, isSecure: false)
            let unprefixed = try await plain.open(key: Self.bootstrapKey, person: "cy", now: now)
            #expect(unprefixed.hasPrefix(name) && unprefixed.hasSuffix("SameSite=Strict"))
            #expect(try await plain.caller(of: Self.request(cookie(unprefixed)), now: now)?.name.hasPrefix("cy ") == true)
            #expect(try await plain.caller(of: Self.request(cookie(header)), now: now) == nil)
        }
    }

    @Test("a session is neither opened nor ended while the audit takes no entry of it")
    func refusedEntries() async throws {
        try await withInstance { instance, pool in
            let opening = try await faultsOfRefusedEntry(in: ["sessions"], on: pool) {
                _ = try await instance.sessions.open(key: Self.bootstrapKey, person: "ana", now: now)
            }
            #expect(opening == [])
            let session = try #require(try await instance.sessions.open(now: now).first)
            let ana = Caller.session(id: session.id, keyId: session.keyId, name: "ana", scopes: [.alertsRead])
            let ending = try await faultsOfRefusedEntry(in: ["sessions"], on: pool) {
                _ = try await instance.sessions.end(id: session.id, by: ana, now: now)
            }
            #expect(ending == [])
        }
    }

    @Test("who has a copy of the database signs in as nobody: of cookies and tickets it has hashes")
    func copy() async throws {
        try await withInstance { instance, pool in
            let header = try await instance.sessions.open(key: Self.bootstrapKey, person: "ana", now: now)
            let ticket = try await instance.tickets.issue(keyId: BootstrapKey.id, person: "ana", now: now)
            var stored: [String] = []
            for (relation, bytes) in [("sessions", ["secretHash", "bootstrapProof"]), ("signInTickets", ["ticketHash"])] {
                for row in try await pool.query("SELECT row_to_json(t)::text FROM \(raw: relation) t") {
                    let text = try row.decode(String.self)
                    #expect(!text.contains(header.prefix { $0 != ";" }.suffix(43)) && !text.contains(ticket))
                }
                for column in bytes {
                    for row in try await pool.query("SELECT \(raw: column) FROM \(raw: relation)") {
                        stored.append(Base64URL.encode(try row.decode([UInt8].self)))
                    }
                }
            }
            #expect(stored.count == 3)
            for value in stored {
                #expect(try await instance.caller("__Host-pushwatch_session=\(value)", now: now) == nil)
                let problem = await #expect(throws: Problem.self) { try await instance.sessions.open(ticket: value, now: now) }
                #expect(problem?.code == "unauthenticated")
            }
            #expect(try await instance.caller(cookie(header), now: now) != nil, "the cookie itself does")
            let tables = try await pool.query("SELECT relname::text FROM pg_class WHERE relname ILIKE '%secret%'")
            #expect(try tables.map { try $0.decode(String.self) }.filter { !$0.contains("secrethash") }.isEmpty, "no table of secrets")
        }
    }

    @Test("invented cookies open nothing, whatever they look like")
    func invented() async throws {
        try await withInstance { instance, _ in
            let good = cookie(try await instance.sessions.open(key: Self.bootstrapKey, person: "ana", now: now))
            for value in ["", "x", String(good.dropLast()), good + "A", String(good.dropLast()) + (good.hasSuffix("A") ? "B" : "A")] {
                #expect(try await instance.caller(value, now: now) == nil)
            }
            #expect(try await instance.caller("__Host-pushwatch_session=bootstrap.9999999999.AAAA", now: now) == nil)
        }
    }

    @Test("a session ends when it is signed out, ended by an operator, idle for two hours or twelve hours old: at every instance at once")
    func ends() async throws {
        try await withDatabase { pool in
            let (first, second) = (try Instance(pool), try Instance(pool))
            func open() async throws -> String { cookie(try await first.sessions.open(key: Self.bootstrapKey, person: "ana", now: now)) }
            func isOpen(_ cookie: String, after seconds: Int64 = 0) async throws -> Bool {
                try await second.caller(cookie, now: now + .seconds(seconds)) != nil
            }
            let signedOut = try await open()
            #expect(try await isOpen(signedOut))
            let cleared = try await first.sessions.close(Self.request(signedOut, .post), now: now)
            #expect(cleared.hasPrefix("__Host-pushwatch_session=; Path=/; Max-Age=0"))
            #expect(try await !isOpen(signedOut))
            let ended = try await open()
            let id = try #require(try await second.sessions.open(now: now).first?.id)
            let operatorKey = Caller.key(id: "k", name: "lead", scopes: [.alertsWrite])
            #expect(try await first.sessions.end(id: id, by: operatorKey, now: now))
            #expect(try await !first.sessions.end(id: id, by: operatorKey, now: now), "once")
            #expect(try await !isOpen(ended))
            let idle = try await open()
            #expect(try await isOpen(idle, after: 7_199), "a request is a use of it")
            #expect(try await isOpen(idle, after: 7_199 + 7_199))
            #expect(try await !isOpen(idle, after: 7_199 + 7_199 + 7_200))
            let old = try await open()
            for hour in 1...11 { #expect(try await isOpen(old, after: Int64(hour) * 3_600)) }
            #expect(try await isOpen(old, after: 43_199))
            #expect(try await !isOpen(old, after: 43_200))
            #expect(try await SessionStore(pool).endAll(keyId: "other", by: "x", now: now) == 0)
            #expect(try await SessionStore(pool).endAll(keyId: nil, by: "x", now: now) == 2)
        }
    }

    @Test("a session of the bootstrap key ends when another one is configured; a key that is put back opens it again")
    func bootstrapChanges() async throws {
        try await withDatabase { pool in
            let header = try await Instance(pool).sessions.open(key: Self.bootstrapKey, person: "ana", now: now)
            #expect(try await Instance(pool, bootstrap: "another-long-bootstrap-key").caller(cookie(header), now: now) == nil)
            #expect(try await Instance(pool).caller(cookie(header), now: now) != nil)
        }
    }

    @Test("a session whose key is revoked or expired, or was taken out of the configuration, is in no list of open ones")
    func withoutKey() async throws {
        try await withInstance { instance, pool in
            let store = APIKeyStore(pool)
            let (revoked, revokedText) = try await store.create(name: "r", scopes: [.alertsRead], createdBy: "test", now: now)
            let end = now + .seconds(600)
            let (expiring, expiringText) = try await store.create(
                name: "e",
                scopes: [.alertsRead],
                expiresAt: end,
                createdBy: "test",
                now: now
            )
            for (text, person) in [(revokedText.text, "ana"), (expiringText.text, "bo"), (Self.bootstrapKey, "cy")] {
                _ = try await instance.sessions.open(key: text, person: person, now: now)
            }
            func people(at moment: Timestamp) async throws -> Set<String> {
                Set(try await instance.sessions.open(now: moment).map(\.person))
            }
            #expect(try await people(at: now) == ["ana", "bo", "cy"])
            let listed = try await store.find(id: expiring.id)?.lastUsedAt
            #expect(try await people(at: end - .seconds(1)) == ["ana", "bo", "cy"])
            #expect(try await store.find(id: expiring.id)?.lastUsedAt == listed, "a look at the list uses no key")
            try await store.revoke(id: revoked.id, now: now)
            #expect(try await people(at: now) == ["bo", "cy"], "at once, although the key itself is remembered for half a minute")
            #expect(try await people(at: end) == ["cy"])
            let other = Sessions(
                keys: KeyAuthenticator(store: store, bootstrap: nil, logger: Logger(label: "test")),
                pool: pool,
                isSecure: true
            )
            #expect(try await other.open(now: now).map(\.person) == ["bo"])
            let session = try #require(try await SessionStore(pool).list().first { $0.person == "ana" })
            let keyIds = try await store.sessionKeyIds(now: now)
            #expect(session.end(SessionLimits(), keyIds: keyIds, now: now) == .withoutKey)
        }
    }

    @Test("who signs in gives a name of 1 to 100 visible characters", arguments: ["", " ", "a\u{0}b", "a\nb", "\u{202E}ana", "a\u{200B}"])
    func names(_ person: String) async throws {
        try await withInstance { instance, _ in
            let refused = await #expect(throws: Problem.self) {
                try await instance.sessions.open(key: Self.bootstrapKey, person: person, now: now)
            }
            #expect(refused?.status == .unprocessableContent)
            let long = String(repeating: "é", count: 100)
            _ = try await instance.sessions.open(key: Self.bootstrapKey, person: long, now: now)
            let open = try await instance.sessions.open(now: now)
            #expect(open.map(\.person) == [long])
        }
    }

    @Test("a sign-in ticket works once, before it expires, for a key that may read alerts; it names its person")
    func tickets() async throws {
        try await withInstance { instance, pool in
            let store = APIKeyStore(pool)
            let (reader, readerText) = try await store.create(name: "r", scopes: [.alertsRead], createdBy: "test", now: now)
            let (sender, senderText) = try await store.create(name: "s", scopes: [.sendsWrite], createdBy: "test", now: now)
            let ticket = try await instance.tickets.issue(keyId: reader.id, person: "bo", now: now)
            let header = try await instance.sessions.open(ticket: ticket, now: now)
            #expect(try await instance.caller(cookie(header), now: now)?.name == "bo (r)")
            let used = await #expect(throws: Problem.self) { try await instance.sessions.open(ticket: ticket, now: now) }
            #expect(used?.code == "unauthenticated")
            let late = try await instance.tickets.issue(keyId: reader.id, person: "bo", now: now)
            let expired = await #expect(throws: Problem.self) {
                try await instance.sessions.open(ticket: late, now: now + .seconds(900))
            }
            #expect(expired?.code == "unauthenticated")
            let wrong = try await instance.tickets.issue(keyId: sender.id, person: "bo", now: now)
            let refused = await #expect(throws: Problem.self) { try await instance.sessions.open(ticket: wrong, now: now) }
            #expect(refused?.code == "forbidden")
            let typed = await #expect(throws: Problem.self) {
                try await instance.sessions.open(key: senderText.text, person: "bo", now: now)
            }
            #expect(typed?.code == "forbidden")
            #expect(try await instance.sessions.open(key: readerText.text, person: "bo", now: now).contains("HttpOnly"))
        }
    }

    @Test("a request that changes something counts with a session only when it comes from this very site")
    func origins() async throws {
        try await withInstance { instance, _ in
            let session = cookie(try await instance.sessions.open(key: Self.bootstrapKey, person: "ana", now: now))
            let now = now
            let access = AccessAuthenticator(keys: instance.keys, users: nil, sessions: instance.sessions, now: { now })
            let refused: [[(String, String)]] = [
                [], [("Origin", "https://evil.example")], [("Origin", "null")], [("Origin", "https://push.example.evil.example")],
                [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "none")],
                [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://push.example")],
            ]
            for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
                for fields in refused {
                    let problem = await #expect(throws: Problem.self) {
                        try await access.authenticate(Self.request(session, method, fields))
                    }
                    #expect(problem?.status == .forbidden, "\(method) \(fields)")
                }
                for fields in [[("Origin", "https://push.example")], [("Sec-Fetch-Site", "same-origin")]] {
                    #expect(try await access.authenticate(Self.request(session, method, fields)) != nil)
                }
            }
            #expect(
                try await access.authenticate(Self.request(session, .get, [("Origin", "https://evil.example")])) != nil,
                "reading changes nothing"
            )
        }
    }
}
