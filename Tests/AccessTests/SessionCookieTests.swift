import PushContract
import Testing

@testable import Access

@Suite struct SessionCookieTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private let cookie = SessionCookie(secret: Array(repeating: 1, count: 32), isSecure: true)

    private func value(_ header: String) -> String {
        String(header.prefix { $0 != ";" }.dropFirst(SessionCookie.name.count + 1))
    }

    @Test("a cookie names its key for 12 hours")
    func roundTrip() {
        let header = cookie.setCookie(keyId: "k1", now: now)
        #expect(header.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"))
        #expect(cookie.keyId(of: value(header), now: now) == "k1")
        #expect(cookie.keyId(of: value(header), now: now + .seconds(43_199)) == "k1")
        #expect(cookie.keyId(of: value(header), now: now + .seconds(43_200)) == nil)
    }

    @Test("a changed cookie, another secret's and another purpose's are refused")
    func forged() {
        let good = value(cookie.setCookie(keyId: "k1", now: now))
        #expect(cookie.keyId(of: good.replacing("k1", with: "k2"), now: now) == nil)
        #expect(cookie.keyId(of: String(good.dropLast()), now: now) == nil)
        #expect(cookie.keyId(of: "", now: now) == nil)
        #expect(SessionCookie(secret: Array(repeating: 2, count: 32), isSecure: true).keyId(of: good, now: now) == nil)
        let other = Signature(secret: Array(repeating: 1, count: 32)).sign("k1.9999999999", purpose: "sign-in")
        #expect(cookie.keyId(of: other, now: now) == nil)
    }
}
