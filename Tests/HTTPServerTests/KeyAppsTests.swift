import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import HTTPServer

@Suite("Keys that are limited to apps")
struct KeyAppsTests {
    @Test("a route that writes is closed to a limited key unless it says that it checks the app; reading is not concerned")
    func closedByDefault() async throws {
        try await withEdge(authentication: AuthenticationMiddleware(StubAuthenticator())) { router in
            router.get("things", .scope(.sendsRead)) { _, _ in "read" }
            router.put("things", .scope(.sendsWrite)) { _, _ in "put" }
            router.post("things", .scope(.sendsWrite)) { _, _ in "post" }
            router.delete("things", .userOrScope(.sendsWrite)) { _, _ in "delete" }
            router.post("sends", .scope(.sendsWrite), apps: .checked) { _, context in
                try context.requireCaller().apps.require("a")
                return "sent"
            }
        } test: { client in
            func status(_ method: HTTPRequest.Method, _ path: String, _ token: String) async throws -> Int {
                try await client.execute(uri: path, method: method, headers: [.authorization: "Bearer " + token]).status.code
            }
            for method in [HTTPRequest.Method.put, .post, .delete] {
                #expect(try await status(method, "/things", "sends:write") == 200)
                #expect(try await status(method, "/things", "sends:write@a") == 403, "\(method)")
            }
            #expect(try await status(.delete, "/things", "user:u1") == 200)
            #expect(try await status(.get, "/things", "sends:read@a") == 200)
            #expect(try await status(.head, "/things", "sends:read@a") == 200)
            #expect(try await status(.post, "/sends", "sends:write@a") == 200)
            #expect(try await status(.post, "/sends", "sends:write@b") == 403)
            #expect(try await status(.post, "/sends", "sends:write") == 200)
            let refused = try await client.execute(
                uri: "/things",
                method: .post,
                headers: [.authorization: "Bearer sends:write@a"]
            )
            #expect(try document(refused)["code"] as? String == "app_not_allowed")
            #expect((try document(refused)["detail"] as? String)?.contains("may write for a only") == true)
        }
    }

    @Test("a limited key contains its apps and no other, and not what concerns none")
    func contains() {
        let limited = KeyApps(["a", "b"])
        #expect(limited.contains("a") && limited.contains("b"))
        #expect(!limited.contains("c") && !limited.contains(nil) && !limited.contains(""))
        // U+212A, the Kelvin sign, is canonically equivalent to K.
        #expect(KeyApps(["K"]).contains("K") && !KeyApps(["K"]).contains("\u{212A}"))
        #expect(KeyApps(nil).contains("c") && KeyApps(nil).contains(nil))
        #expect(limited.refusal(of: "c", pointer: "/app")?.pointer == "/app")
    }
}
