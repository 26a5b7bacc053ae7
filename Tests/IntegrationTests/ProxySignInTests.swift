import Foundation
import HTTPServer
import HTTPTypes
import Postgres
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Signed in by a proxy")
    struct ProxySignInTests {
        private static let header = "X-Forwarded-User"
        private static let throttle = Array("provider=fcm&perMinute=60&minutes=30&reason=test".utf8)

        private func withProxied(
            from proxies: String,
            scopes: Set<Scope> = [.alertsRead, .alertsWrite],
            _ body: (_ database: String, _ api: API) async throws -> Void
        ) async throws {
            try await withDatabaseURL { database in
                var configuration = ServerConfiguration.bare(database)
                let ranges = try proxies.split(separator: ",").map { try #require(AddressRange($0)) }
                configuration.proxySignIn = ProxySignIn(header: try #require(HTTPField.Name(Self.header)), from: ranges, scopes: scopes)
                try await withServer(configuration) { url in
                    let api = API(url: url, bearer: nil)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    try await body(database, api)
                }
            }
        }

        private func get(_ api: API, _ path: String, as person: String) async throws -> API.Answer {
            try await api.call("GET", path, headers: [(Self.header, person)])
        }

        private func post(_ api: API, as person: String, site: String) async throws -> API.Answer {
            try await api.call(
                "POST",
                "/oncall/throttle",
                type: "application/x-www-form-urlencoded",
                headers: [(Self.header, person), ("Sec-Fetch-Site", site)],
                body: Self.throttle
            )
        }

        @Test("whom the proxy names is signed in, and what they do is in the audit under that name")
        func signedIn() async throws {
            try await withProxied(from: "127.0.0.1") { database, api in
                let page = try await get(api, "/", as: "ana@example.com")
                #expect(page.status == 200 && page.text.contains("ana@example.com (proxy)"))
                #expect(try await get(api, "/attempts?uid=me", as: "ana@example.com").status == 403, "the scopes are those configured")
                #expect(try await api.get("/alerts").status == 401, "without the header nobody is signed in")
                #expect(try await post(api, as: "ana@example.com", site: "same-origin").status == 303)
                #expect(try await post(api, as: "eve@example.com", site: "cross-site").status == 403)
                try await withPool(database) { pool in
                    let actors = try await pool.query("SELECT DISTINCT actor FROM auditEntries").map { try $0.decode(String.self) }
                    #expect(actors == ["ana@example.com (proxy)"])
                }
                let wrong = api.with(bearer: "pw_nobody_nothing")
                #expect(try await get(wrong, "/alerts", as: "ana@example.com").status == 401, "a credential goes before the header")
                let key = api.with(bearer: RunningServer.bootstrapKey)
                #expect(try await get(key, "/attempts?uid=me", as: "ana@example.com").status == 200)
                #expect(try await get(api, "/alerts", as: String(repeating: "a", count: 101)).status == 401)
                let two = try await api.call("GET", "/alerts", headers: [(Self.header, "ana"), (Self.header, "eve")])
                #expect(two.status == 401, "two names are none")
            }
        }

        @Test("a browser whose header names nobody, or whose form is another site's, gets a page")
        func refusedBrowser() async throws {
            try await withProxied(from: "127.0.0.1") { (_: String, api: API) async throws in
                let nobody = [(Self.header, String(repeating: "a", count: 101)), ("accept", "text/html")]
                let page = try await api.call("GET", "/", headers: nobody)
                #expect(page.status == 401 && page.text.contains("does not name one person"), "\(page.text)")
                let foreign = [(Self.header, "eve"), ("sec-fetch-site", "cross-site"), ("accept", "text/html")]
                let form = "application/x-www-form-urlencoded"
                let answer = try await api.call("POST", "/oncall/throttle", type: form, headers: foreign, body: Self.throttle)
                #expect(answer.status == 403, "\(answer.text)")
                for refused in [page, answer] { #expect(refused[header: "content-type"]?.hasPrefix("text/html") == true) }
            }
        }

        @Test("from any other address the header counts for nothing")
        func untrusted() async throws {
            try await withProxied(from: "10.0.0.0/8,2001:db8::1") { (_: String, api: API) async throws in
                #expect(try await get(api, "/alerts", as: "eve").status == 401)
                #expect(try await post(api, as: "eve", site: "same-origin").status == 401)
            }
        }

        @Test("who may only look cannot act")
        func looking() async throws {
            try await withProxied(from: "127.0.0.0/8", scopes: [.alertsRead]) { (_: String, api: API) async throws in
                #expect(try await get(api, "/", as: "ana").status == 200)
                #expect(try await post(api, as: "ana", site: "same-origin").status == 403)
            }
        }
    }
}
