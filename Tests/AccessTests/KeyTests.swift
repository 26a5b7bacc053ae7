import HTTPServer
import PushContract
import Testing

@testable import Access

@Suite struct KeyTests {
    private let start = Timestamp(seconds: 1_800_000_000)

    private func key(_ id: String = "k1") -> APIKey {
        APIKey(id: id, name: "n", scopes: [.attemptsWrite], createdAt: start, createdBy: "test")
    }

    @Test("a generated key reads back, and no two are alike")
    func roundTrip() throws {
        let made = APIKeyText.generate()
        let read = try #require(APIKeyText(made.text))
        #expect(read == made)
        #expect(made.secret.count == 43)
        #expect(made.hash.count == 32)
        #expect(APIKeyText.generate() != made)
    }

    @Test(
        "what is not a key is not read as one",
        arguments: [
            "", "pw_", "pw_a", "pw_a_short", "xx_a_\(String(repeating: "a", count: 43))", "pw__\(String(repeating: "a", count: 43))",
            "pw_A_\(String(repeating: "a", count: 43))", "pw_a_\(String(repeating: "a", count: 44))",
            "pw_a_\(String(repeating: "é", count: 43))",
        ]
    )
    func malformed(text: String) {
        #expect(APIKeyText(text) == nil)
    }

    @Test("an answer holds for 30 seconds and not a microsecond longer, also that there is none")
    func cacheAge() {
        var cache = KeyCache()
        cache.store(key(), for: [1], asked: start)
        cache.store(nil, for: [2], asked: start)
        let last = start + .microseconds(29_999_999)
        #expect(cache.answer(for: [1], now: last) == .some(key()))
        #expect(cache.answer(for: [2], now: last) == .some(nil))
        #expect(cache.answer(for: [1], now: start + .seconds(30)) == nil)
        #expect(cache.answer(for: [2], now: start + .seconds(30)) == nil)
        #expect(cache.answer(for: [1], now: start - .seconds(1)) == nil)
    }

    @Test("invented keys neither grow the cache without end nor push real ones out")
    func cacheBound() {
        var cache = KeyCache()
        cache.store(key(), for: [9], asked: start)
        for number in 0..<(KeyCache.bound * 2 + 5) { cache.store(nil, for: Secrets.sha256("\(number)"), asked: start) }
        #expect(cache.count <= KeyCache.bound + 1)
        #expect(cache.answer(for: [9], now: start) == .some(key()))
    }

    @Test("a quota lets a minute's worth through, then refills steadily")
    func bucket() throws {
        var bucket = TokenBucket(perMinute: 60, now: start)
        func taken(_ count: Int, at now: Timestamp) -> [Duration?] { (0..<count).map { _ in bucket.take(now: now) } }
        #expect(taken(60, at: start).allSatisfy { $0 == nil })
        let refused = taken(1, at: start)[0]
        #expect(abs(try #require(refused).inSeconds - 1) < 0.001)
        let later = taken(2, at: start + .seconds(1))
        #expect(later[0] == nil && later[1] != nil)
        let muchLater = taken(61, at: start + .seconds(1_000))
        #expect(muchLater.dropLast().allSatisfy { $0 == nil } && muchLater[60] != nil)
    }

    @Test("a key is not made from an invalid request")
    func refusals() {
        #expect(throws: APIKeyStore.Refusal.noScopes) { try APIKeyStore.check(name: "a", scopes: [], quotaPerMinute: nil) }
        #expect(throws: APIKeyStore.Refusal.unknownScope("x:y")) {
            try APIKeyStore.check(name: "a", scopes: [.attemptsRead, Scope(rawValue: "x:y")], quotaPerMinute: nil)
        }
        #expect(throws: APIKeyStore.Refusal.invalidName) { try APIKeyStore.check(name: "", scopes: [.sendsRead], quotaPerMinute: nil) }
        #expect(throws: APIKeyStore.Refusal.invalidQuota) { try APIKeyStore.check(name: "a", scopes: [.sendsRead], quotaPerMinute: 0) }
    }

    @Test("a key is active until the moment it expires; a revoked one stays revoked")
    func state() {
        var key = key()
        #expect(key.state(at: start + .seconds(1_000_000_000)) == .active)
        key.expiresAt = start + .seconds(60)
        #expect(key.state(at: start + .microseconds(59_999_999)) == .active)
        #expect(key.state(at: start + .seconds(60)) == .expired(at: start + .seconds(60)))
        key.revokedAt = start
        #expect(key.state(at: start + .seconds(60)) == .revoked(at: start))
    }

    @Test("a replacement lives as long as the old key did, unless said otherwise; the old one ends with the overlap, or before")
    func rotation() throws {
        let day = Duration.seconds(86_400)
        let now = start + day * 80
        var old = key()
        let eternal = try KeyRotation(of: old, overlap: day * 7, expiry: nil, now: now)
        #expect(eternal.expiresAt == nil && eternal.oldExpiresAt == now + day * 7)
        old.expiresAt = start + day * 90
        let limited = try KeyRotation(of: old, overlap: day * 7, expiry: nil, now: now)
        #expect(limited.expiresAt == now + day * 90 && limited.oldExpiresAt == now + day * 7)
        let late = try KeyRotation(of: old, overlap: day * 30, expiry: now + day, now: now)
        #expect(late.expiresAt == now + day && late.oldExpiresAt == start + day * 90, "nothing is prolonged")
        #expect(throws: APIKeyStore.Refusal.notActive("k1")) {
            try KeyRotation(of: old, overlap: day, expiry: nil, now: start + day * 90)
        }
    }

    @Test("a key is made neither for an app without a name nor for the past")
    func limits() {
        #expect(throws: APIKeyStore.Refusal.invalidApp) { try APIKeyStore.check(apps: .only([""]), expiresAt: nil, now: start) }
        #expect(throws: APIKeyStore.Refusal.invalidApp) { try APIKeyStore.check(apps: .only([]), expiresAt: nil, now: start) }
        #expect(throws: APIKeyStore.Refusal.expiresInThePast) { try APIKeyStore.check(apps: .all, expiresAt: start, now: start) }
    }

    @Test("the bootstrap key must be long, and must match whole")
    func bootstrap() throws {
        #expect(throws: BootstrapKey.TooShort.self) { try BootstrapKey("short") }
        let bootstrap = try BootstrapKey("a-long-enough-bootstrap-key")
        #expect(bootstrap.matches("a-long-enough-bootstrap-key"))
        #expect(!bootstrap.matches("a-long-enough-bootstrap-kex"))
        #expect(bootstrap.key.scopes == Set(Scope.allScopes))
        #expect(bootstrap.key.apps == .all && bootstrap.key.expiresAt == nil)
    }

    @Test(
        "a Bearer header gives its credential",
        arguments: [("Bearer abc", "abc"), ("bearer  abc", "abc"), ("Basic abc", nil), ("Bearer", nil), ("Bearer ", nil)]
            as [(String, String?)]
    )
    func bearer(header: String, token: String?) {
        #expect(AccessAuthenticator.bearer(header) == token)
    }
}
