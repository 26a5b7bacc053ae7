import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import HTTPServer

@Suite struct AccessTests {
    private func withRoutes(_ test: @Sendable @escaping (any TestClientProtocol) async throws -> Void) async throws {
        let authentication = AuthenticationMiddleware(StubAuthenticator(), signInPath: "/sign-in")
        try await withEdge(authentication: authentication) { router in
            router.get("health", .open) { _, _ in "alive" }
            router.get("", .scope(.alertsRead)) { _, _ in "page" }
            router.get("alerts", .scope(.alertsRead)) { _, _ in "alerts" }
            router.post("attempts", .scope(.attemptsWrite)) { _, _ in "stored" }
            router.post("devices", .user) { _, context in try context.requireUser() }
            router.get("matches", .userOrScope(.matchesWrite)) { _, _ in "match" }
            router.delete("devices", .userOrDeviceSecret) { _, _ in "gone" }
        } test: {
            try await test($0)
        }
    }

    @Test(
        "a route lets in whom it should",
        arguments: [
            ("/health", HTTPRequest.Method.get, nil, 200), ("/alerts", .get, nil, 401), ("/attempts", .post, nil, 401),
            ("/attempts", .post, "bad", 401), ("/attempts", .post, "attempts:read", 403), ("/attempts", .post, "attempts:write", 200),
            ("/attempts", .post, "user:u1", 403), ("/devices", .post, "user:u1", 200), ("/devices", .post, "attempts:write", 403),
            ("/devices", .post, nil, 401), ("/devices", .post, "secret", 403), ("/attempts", .post, "secret", 403),
            ("/devices", .delete, "secret", 200), ("/devices", .delete, "user:u1", 200), ("/devices", .delete, "attempts:write", 403),
            ("/devices", .delete, nil, 401), ("/matches", .get, "user:u1", 200), ("/matches", .get, "matches:write", 200),
            ("/matches", .get, "sends:read", 403), ("/matches", .get, "secret", 403), ("/matches", .get, nil, 401),
            ("/alerts", .get, "alerts:read", 200), ("/alerts", .get, "alerts:write", 403), ("/alerts", .head, nil, 401),
            ("/nothing", .get, nil, 404), ("/attempts", .put, nil, 405),
        ] as [(String, HTTPRequest.Method, String?, Int)]
    )
    func table(path: String, method: HTTPRequest.Method, token: String?, status: Int) async throws {
        try await withRoutes { client in
            var headers = HTTPFields()
            if let token { headers[.authorization] = "Bearer \(token)" }
            let response = try await client.execute(uri: path, method: method, headers: headers)
            #expect(response.status.code == status)
            if status == 401 { #expect(response.headers[.wwwAuthenticate]?.hasPrefix("Bearer") == true) }
        }
    }

    @Test("403 names the missing scope")
    func namesScope() async throws {
        try await withRoutes { client in
            let response = try await client.execute(uri: "/attempts", method: .post, headers: [.authorization: "Bearer sends:read"])
            #expect((try document(response)["detail"] as? String)?.contains("attempts:write") == true)
        }
    }

    @Test("a browser is sent to the sign-in page with the page it wanted; an API client is not")
    func signIn() async throws {
        try await withRoutes { client in
            let browser: HTTPFields = [.accept: "text/html,application/xhtml+xml,*/*;q=0.8"]
            let response = try await client.execute(uri: "/alerts?a=b", method: .get, headers: browser)
            #expect(response.status == .seeOther)
            #expect(response.headers[.location] == "/sign-in?next=%2Falerts%3Fa%3Db")
            #expect(try await client.execute(uri: "/", method: .get, headers: browser).headers[.location] == "/sign-in")
            #expect(try await client.execute(uri: "/alerts", method: .get, headers: [.accept: "*/*"]).status == .unauthorized)
        }
    }
}
