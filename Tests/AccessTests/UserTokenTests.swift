import Crypto
import Foundation
import HTTPServer
import JWTKit
import Logging
import PushContract
import Synchronization
import TestSupport
import Testing

@testable import Access

@Suite struct UserTokenTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private let key = ES256PrivateKey()

    private func jwks(_ key: ES256PrivateKey, kid: String, extra: String = "") throws -> [UInt8] {
        let point = try #require(key.parameters)
        let (x, y) = (urlSafe(point.x), urlSafe(point.y))
        return Array(#"{"keys":[\#(extra){"kty":"EC","crv":"P-256","kid":"\#(kid)","x":"\#(x)","y":"\#(y)"}]}"#.utf8)
    }

    private func urlSafe(_ text: String) -> String { text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") }

    private func token(_ key: ES256PrivateKey, kid: String = "k1", _ change: (inout UserClaims) -> Void = { _ in }) async throws -> String {
        var claims = UserClaims(iss: "https://issuer", sub: "user-1", aud: "pushwatch", exp: Double(now.seconds) + 300, nbf: nil)
        change(&claims)
        return try await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: kid)).sign(claims, kid: JWKIdentifier(string: kid))
    }

    private func verifier(_ load: @escaping UserTokenVerifier.Loader) -> UserTokenVerifier {
        UserTokenVerifier(issuer: "https://issuer", audience: "pushwatch", logger: Logger(label: "test"), load: load)
    }

    private func code(_ body: () async throws -> String) async -> String {
        do { return try await body() } catch { return (error as? Problem)?.code ?? "\(error)" }
    }

    @Test("a good token names its user; keys of unknown types next to the right one do no harm")
    func good() async throws {
        let keys = try jwks(key, kid: "k1", extra: #"{"kty":"new","kid":"n"},{"kty":"oct","kid":"o","k":"AAAA"},"#)
        #expect(try await verifier { keys }.userId(of: token(key), now: now) == "user-1")
    }

    @Test("claims that do not fit are refused")
    func claims() async throws {
        let keys = try jwks(key, kid: "k1")
        let verifier = verifier { keys }
        let base = Double(now.seconds)
        let changes: [(inout UserClaims) -> Void] = [
            { $0.iss = "https://other" }, { $0.aud = "other" }, { $0.aud = nil }, { $0.exp = nil }, { $0.exp = base - 60 },
            { $0.nbf = base + 61 }, { $0.sub = nil }, { $0.sub = "" }, { $0.sub = "a\nb" },
        ]
        for change in changes {
            let token = try await token(key, change)
            #expect(await code { try await verifier.userId(of: token, now: now) } == "unauthenticated")
        }
        for change in [{ $0.exp = base - 59 }, { $0.nbf = base + 60 }, { $0.aud = AudienceClaim(value: ["x", "pushwatch"]) }]
            as [(inout UserClaims) -> Void]
        {
            let token = try await token(key, change)
            #expect(await code { try await verifier.userId(of: token, now: now) } == "user-1")
        }
    }

    @Test("Cognito's access tokens count by client_id, where an audience is set; without one any audience of the issuer does")
    func cognito() async throws {
        let keys = try jwks(key, kid: "k1")
        func userId(audience: String?, _ change: (inout UserClaims) -> Void) async throws -> String {
            let verifier = UserTokenVerifier(issuer: "https://issuer", audience: audience, logger: Logger(label: "test")) { keys }
            let token = try await token(key, change)
            return await code { try await verifier.userId(of: token, now: now) }
        }
        func access(_ client: String?, _ use: String?) -> (inout UserClaims) -> Void {
            {
                $0.aud = nil
                $0.clientId = client
                $0.tokenUse = use
            }
        }
        #expect(try await userId(audience: "app", access("app", "access")) == "user-1")
        #expect(try await userId(audience: nil, access("app", "access")) == "user-1")
        #expect(try await userId(audience: nil) { $0.aud = "whatever" } == "user-1")
        #expect(try await userId(audience: "app", access("other", "access")) == "unauthenticated")
        #expect(try await userId(audience: "app", access("app", nil)) == "unauthenticated")
        #expect(try await userId(audience: "app", access("app", "id")) == "unauthenticated")
        #expect(try await userId(audience: nil, access("app", "refresh")) == "unauthenticated")
        #expect(
            try await userId(audience: "app") {
                $0.aud = "other"
                $0.clientId = "app"
                $0.tokenUse = "access"
            } == "unauthenticated"
        )
    }

    @Test("another key's signature, another algorithm and no algorithm are refused")
    func forged() async throws {
        let keys = try jwks(key, kid: "k1")
        let verifier = verifier { keys }
        let hmac = await JWTKeyCollection().add(
            hmac: "a secret that is long enough, being over 32 bytes",
            digestAlgorithm: .sha256,
            kid: "k1"
        )
        let claims = UserClaims(iss: "https://issuer", sub: "u", aud: "pushwatch", exp: Double(now.seconds) + 300)
        let none = "eyJhbGciOiJub25lIn0.\(urlSafe(try JSONEncoder().encode(claims).base64EncodedString()))."
        for token in [try await token(ES256PrivateKey()), try await hmac.sign(claims, kid: "k1"), none, "eyx", "a.b.c"] {
            #expect(await code { try await verifier.userId(of: token, now: now) } == "unauthenticated")
        }
    }

    @Test("an unknown key id loads the keys again, at most once a minute")
    func refresh() async throws {
        let newKey = ES256PrivateKey()
        let (old, new) = (try jwks(key, kid: "k1"), try jwks(newKey, kid: "k2"))
        let loads = Loads()
        let verifier = verifier { loads.next() == 1 ? old : new }
        #expect(try await verifier.userId(of: token(key), now: now) == "user-1")
        let rotated = try await token(newKey, kid: "k2")
        #expect(await code { try await verifier.userId(of: rotated, now: now + .seconds(59)) } == "unauthenticated")
        #expect(loads.count == 1)
        #expect(try await verifier.userId(of: rotated, now: now + .seconds(60)) == "user-1")
        #expect(loads.count == 2)
    }

    @Test("keys that were loaded by a clock a day ahead are loaded again when the clock is set back")
    func clockSetBack() async throws {
        let newKey = ES256PrivateKey()
        let (old, new) = (try jwks(key, kid: "k1"), try jwks(newKey, kid: "k2"))
        let loads = Loads()
        let verifier = verifier { loads.next() == 1 ? old : new }
        let early = try await token(key) { $0.exp = Double(now.seconds) + 100_000 }
        #expect(try await verifier.userId(of: early, now: now + .seconds(86_400)) == "user-1")
        #expect(try await verifier.userId(of: token(newKey, kid: "k2"), now: now) == "user-1")
        #expect(loads.count == 2)
    }

    @Test("without keys it is 503, and keys once loaded survive a failure")
    func failing() async throws {
        struct Away: Error {}
        let keys = try jwks(key, kid: "k1")
        let loads = Loads()
        let verifier = verifier { if loads.next() == 2 { return keys } else { throw Away() } }
        let token = try await token(key) { $0.exp = Double(now.seconds) + 10_000 }
        #expect(await code { try await verifier.userId(of: token, now: now) } == "unavailable")
        #expect(await code { try await verifier.userId(of: token, now: now + .seconds(5)) } == "user-1")
        #expect(await code { try await verifier.userId(of: token, now: now + .seconds(700)) } == "user-1")
        #expect(loads.count == 3)
    }

    @Test("keys are loaded before a user comes, and every ten minutes; while there are none, the fault names the cause")
    func kept() async throws {
        struct Away: Error, CustomStringConvertible { var description: String { "away" } }
        let keys = try jwks(key, kid: "k1")
        let loads = Loads()
        let verifier = verifier { if loads.next() == 2 { return keys } else { throw Away() } }
        #expect(await verifier.fault == nil)
        for second in [0, 4] {
            try await verifier.keep(now: now + .seconds(second))
            #expect(await verifier.fault == "away")
        }
        #expect(loads.count == 1)
        try await verifier.keep(now: now + .seconds(5))
        #expect(await verifier.fault == nil)
        #expect(try await verifier.userId(of: token(key), now: now + .seconds(6)) == "user-1")
        try await verifier.keep(now: now + .seconds(604))
        #expect(loads.count == 2)
        try await verifier.keep(now: now + .seconds(605))
        #expect(loads.count == 3)
        #expect(await verifier.fault == nil, "the keys last loaded are in use")
    }

    @Test("a token of a new key is 503 while the keys cannot be loaded, and not refused; those of the old key are valid meanwhile")
    func rotationWhileAway() async throws {
        struct Away: Error {}
        let new = ES256PrivateKey()
        let sets = [1: try jwks(key, kid: "k1"), 3: try jwks(new, kid: "k2")]
        let loads = Loads()
        let verifier = verifier { if let keys = sets[loads.next()] { return keys } else { throw Away() } }
        let old = try await token(key) { $0.exp = Double(now.seconds) + 10_000 }
        #expect(await code { try await verifier.userId(of: old, now: now) } == "user-1")
        let rotated = try await token(new, kid: "k2") { $0.exp = Double(now.seconds) + 10_000 }
        for second in [61, 62] {
            #expect(await code { try await verifier.userId(of: rotated, now: now + .seconds(second)) } == "unavailable")
            #expect(await code { try await verifier.userId(of: old, now: now + .seconds(second)) } == "user-1")
        }
        #expect(loads.count == 2)
        #expect(await code { try await verifier.userId(of: rotated, now: now + .seconds(66)) } == "user-1")
    }

    @Test("a request that is cancelled while it loads the keys says nothing of the issuer: who waits loads them")
    func cancelledLoad() async throws {
        let keys = try jwks(key, kid: "k1")
        let loads = Loads()
        let verifier = verifier {
            if loads.next() == 1 { try await Task.sleep(for: .seconds(3_600)) }
            return keys
        }
        let token = try await token(key)
        await withTaskGroup(of: String.self) { group in
            group.addTask { await code { try await verifier.userId(of: token, now: now) } }
            try? await eventually("the first loads the keys") { loads.count == 1 }
            async let second = code { try await verifier.userId(of: token, now: now) }
            group.cancelAll()
            #expect(await second == "user-1")
        }
        #expect(loads.count == 2)
    }

    private final class Loads: Sendable {
        private let state = Mutex(0)
        func next() -> Int {
            state.withLock {
                $0 += 1
                return $0
            }
        }
        var count: Int { state.withLock { $0 } }
    }
}
