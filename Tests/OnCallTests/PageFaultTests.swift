import Access
import Alerting
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Postgres
import TestDatabase
import Testing

@testable import OnCall

@Suite("Pages that could not be made, and forms that were not carried out")
struct PageFaultTests {
    private static let browser = "text/html,application/xhtml+xml,*/*;q=0.8"
    private static let throttle = ByteBuffer(string: "provider=fcm&perMinute=600&minutes=60&reason=outage&back=%2F")

    /// Finds people's sessions as the server does.
    private static func authenticator(_ pool: PostgresPool) throws -> any Authenticator {
        let keys = KeyAuthenticator(
            store: APIKeyStore(pool),
            bootstrap: try BootstrapKey(OnCallRoutesTests.bootstrapKey),
            logger: .silent
        )
        return AccessAuthenticator(
            keys: keys,
            users: nil,
            sessions: Sessions(keys: keys, pool: pool, isSecure: false),
            now: { OnCallRoutesTests.now }
        )
    }

    /// A form as a browser sends it.
    private static func form(cookie: String, referer: String, origin: String = "http://localhost") -> HTTPFields {
        [
            .cookie: cookie, .accept: browser, .origin: origin, .referer: "http://localhost" + referer,
            .contentType: "application/x-www-form-urlencoded",
        ]
    }

    @Test("with a session's cookie, while the database is away, a person gets a page and another caller a problem document")
    func databaseAway() async throws {
        let away = { (pool: PostgresPool) throws -> any Authenticator in
            let lost = PostgresPool(configuration: pool.configuration, logger: .silent)
            lost.close()
            return try Self.authenticator(lost)
        }
        try await OnCallRoutesTests().withSite(authenticator: away) { client, _ in
            let cookie = "pushwatch_session=" + String(repeating: "A", count: 43)
            let page = try await client.execute(uri: "/", method: .get, headers: [.cookie: cookie, .accept: Self.browser])
            #expect(page.status == .serviceUnavailable && page.headers[.retryAfter] == "10")
            let html = String(buffer: page.body)
            #expect(html.contains("<h1>The database is unavailable</h1>") && html.contains("no rule is evaluated"), "\(html)")
            #expect(html.contains("tries again by itself") && html.contains("data-refresh"))
            let other = try await client.execute(uri: "/", method: .get, headers: [.cookie: cookie, .accept: "*/*"])
            #expect(other.headers[.contentType] == "application/problem+json")
        }
    }

    @Test("a form that is sent after the session's end does nothing: the answer is the sign-in form, which leads back to the page")
    func sessionOver() async throws {
        try await OnCallRoutesTests().withSite(authenticator: Self.authenticator) { client, pool in
            func post(_ path: String, _ headers: HTTPFields, _ body: ByteBuffer = Self.throttle) async throws -> TestResponse {
                try await client.execute(uri: path, method: .post, headers: headers, body: body)
            }
            let referer = "/oncall/throttle?provider=fcm"
            let key = ByteBuffer(string: "key=\(OnCallRoutesTests.bootstrapKey)&name=Ana")
            let signedIn = try await post("/sign-in", Self.form(cookie: "", referer: "/sign-in"), key)
            let cookie = String(try #require(signedIn.headers[.setCookie]).prefix { $0 != ";" })
            let own = Self.form(cookie: cookie, referer: referer)
            #expect(try await post("/oncall/throttle", own).status == .seeOther)
            #expect(try await pool.execute("DELETE FROM pushThrottles") == 1)
            #expect(try await post("/sign-out", own).status == .seeOther)

            let late = try await post("/oncall/throttle", own)
            #expect(late.status == .unauthorized && late.headers[.wwwAuthenticate]?.hasPrefix("Bearer") == true)
            let html = String(buffer: late.body)
            #expect(html.contains("this was not done") && html.contains("name=\"next\" value=\"\(referer)\""), "\(html)")
            let page = "/oncall/throttle"
            let cases = [("/search", page), ("//evil.example", page), ("/nothing", page), ("/sign-in?next=/", "/"), ("/", "/")]
            for (elsewhere, next) in cases {
                let answer = try await post("/oncall/throttle", Self.form(cookie: cookie, referer: elsewhere))
                #expect(String(buffer: answer.body).contains("name=\"next\" value=\"\(next)\""), "\(elsewhere)")
            }
            let foreign = try await post("/oncall/throttle", Self.form(cookie: cookie, referer: referer, origin: "https://evil.example"))
            #expect(foreign.status == .unauthorized && !String(buffer: foreign.body).contains("name=\"next\""))
            var program = own
            program[.accept] = "*/*"
            let refused = try await post("/oncall/throttle", program)
            #expect(refused.status == .unauthorized && refused.headers[.contentType] == "application/problem+json")
            #expect(try await pool.query("SELECT 1 FROM pushThrottles").isEmpty)
        }
    }

    /// The answer where this error is thrown.
    private func fault(_ error: any Error, _ method: HTTPRequest.Method) async throws -> String {
        let router = HTTPRouter()
        let faults = PageFaults(templates: try PageTemplates(), now: { OnCallRoutesTests.now })
        router.on("oncall/throttle", method: method, .open, middleware: [faults]) { _, _ -> Response in throw error }
        return try await Application(router: router).test(.router) { client in
            let headers = Self.form(cookie: "", referer: "/oncall/throttle?provider=fcm")
            return String(buffer: try await client.execute(uri: "/oncall/throttle", method: method, headers: headers).body)
        }
    }

    @Test(
        "only a page tries again by itself; a form's answer says whether it was done, and leads back to the page that has it",
        arguments: [
            (PostgresError(.callTimeout, "no answer"), "It is not known whether this was done"),
            (PostgresError(.queryCancelled, "statement timeout"), "This was not done"),
            (PostgresError(.poolExhausted, "no connection"), "This was not done"), (Problem.unavailable("Later."), "Later."),
        ] as [(any Error, String)]
    )
    func tries(_ error: any Error, _ outcome: String) async throws {
        let page = try await fault(error, .get)
        #expect(page.contains("data-refresh") && page.contains("http-equiv=\"refresh\""), "\(page)")
        #expect(page.contains("<a href=\"/\">Back to the first page</a>"), "\(page)")
        let answer = try await fault(error, .post)
        #expect(answer.contains(outcome) && answer.contains("<a href=\"/oncall/throttle?provider=fcm\">Back to the page</a>"), "\(answer)")
        #expect(!answer.contains("refresh") && !answer.contains("by itself"), "\(answer)")
    }

    @Test("the answer to a form that is refused leads back to the page that has it, also without Referer, and has the navigation")
    func refused() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            let alert = "/oncall/alerts/\(try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased())"
            var headers = Self.form(cookie: "s=alerts:read,alerts:write", referer: "")
            headers[.referer] = nil
            let forms: [(path: String, body: String, back: String)] = [
                ("\(alert)/silence", "reason=story", "\(alert)/silence"),
                ("/oncall/throttle", "provider=fcm&perMinute=-1&minutes=60&reason=story", "/oncall/throttle"),
                ("/oncall/throttle/lift", "provider=none", "/oncall/throttle"), ("\(alert)/mark", "verdict=great", alert),
            ]
            for (path, body, back) in forms {
                let answer = try await client.execute(uri: path, method: .post, headers: headers, body: ByteBuffer(string: body))
                let html = String(buffer: answer.body)
                #expect(answer.status == .unprocessableContent && html.contains("<a href=\"\(back)\">Back to the page</a>"), "\(html)")
                #expect(html.contains("aria-label=\"Pages\"") && html.contains("maria"), "\(path)")
            }
            for path in ["/oncall/alerts/x", "/runbooks/x.md"] {
                let answer = try await client.execute(uri: path, method: .get, headers: headers)
                #expect(answer.status == .notFound && String(buffer: answer.body).contains("aria-label=\"Pages\""), "\(path)")
            }
        }
    }

    @Test("a browser gets a page at an address that is none, and at a form's after a reload; another caller gets a problem document")
    func unknownPath() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            let alert = "/oncall/alerts/\(try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased())"
            let addresses: [(path: String, status: HTTPResponse.Status, link: String)] = [
                ("/nope", .notFound, "<a href=\"/\">Back to the first page</a>"),
                ("/people?uid=nobody", .notFound, "<a href=\"/\">Back to the first page</a>"),
                ("\(alert)/acknowledge", .methodNotAllowed, "<a href=\"\(alert)\">Back to the page</a>"),
            ]
            for (path, status, link) in addresses {
                let page = try await client.execute(uri: path, method: .get, headers: [.accept: Self.browser])
                #expect(page.status == status && page.headers[.contentType] == "text/html; charset=utf-8", "\(path)")
                #expect(String(buffer: page.body).contains(link), "\(path)")
                #expect((page.headers[.allow] == "POST") == (status == .methodNotAllowed), "\(path)")
                let other = try await client.execute(uri: path, method: .get, headers: [.accept: "*/*"])
                #expect(other.status == status && other.headers[.contentType] == "application/problem+json", "\(path)")
            }
        }
    }

    @Test("an error of which nothing is known is a page as well, which says nothing from inside and leads back")
    func unknownError() async throws {
        struct Surprise: Error { let reason = "a wrong number" }
        let answer = try await fault(Surprise(), .post)
        #expect(answer.contains("<h1>Internal error</h1>") && !answer.contains("a wrong number"), "\(answer)")
        #expect(answer.contains("<a href=\"/oncall/throttle?provider=fcm\">Back to the page</a>"), "\(answer)")
    }

    @Test("that no rule is evaluated is said where the database is away, not where one page took too long")
    func rules() async throws {
        #expect(try await fault(PostgresError(.connectionFailure, "refused"), .get).contains("no rule is evaluated"))
        for code in [PostgresError.Code.queryCancelled, .poolExhausted] {
            #expect(try await !fault(PostgresError(code, "slow"), .get).contains("no rule is evaluated"))
        }
    }
}
