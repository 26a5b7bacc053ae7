import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Requests of one caller at a time")
struct RequestLimitTests {
    /// The requests that are counted.
    struct Counted: Sendable, CustomTestStringConvertible {
        var method: HTTPRequest.Method
        var bearer: String
        var code: String

        var testDescription: String { "\(method) of \(bearer)" }
    }

    @Test(
        "four are answered at a time, sixteen wait, further ones are 429: reads of a key, all of an app's user",
        arguments: [
            Counted(method: .get, bearer: "alerts:read", code: "too_many_reads"),
            Counted(method: .head, bearer: "alerts:read", code: "too_many_reads"),
            Counted(method: .get, bearer: "user:one", code: "too_many_requests"),
            Counted(method: .post, bearer: "user:one", code: "too_many_requests"),
        ]
    )
    func limit(counted: Counted) async throws {
        let running = Mutex(0)
        let isOpen = Mutex(false)
        try await withEdge(authentication: AuthenticationMiddleware(StubAuthenticator())) { router in
            let handler: HTTPRouter.Handler<String> = { _, context in
                if context.caller == .user(userId: "other") { return "at once" }
                running.withLock { $0 += 1 }
                try await eventually("the test lets it go on") { isOpen.withLock { $0 } }
                return "alerts"
            }
            router.get("alerts", .userOrScope(.alertsRead), use: handler)
            router.post("alerts", .userOrScope(.alertsRead), use: handler)
        } test: { client in
            @Sendable func send(_ bearer: String) async throws -> TestResponse {
                try await client.execute(uri: "/alerts", method: counted.method, headers: [.authorization: "Bearer \(bearer)"])
            }
            try await withThrowingTaskGroup(of: TestResponse.self) { tasks in
                for _ in 1...23 { tasks.addTask { try await send(counted.bearer) } }
                // None of the others is answered before the test lets them.
                for _ in 1...3 {
                    let refused = try #require(try await tasks.next())
                    #expect(refused.status == .tooManyRequests)
                    // A HEAD has no body.
                    if counted.method != .head { #expect(try document(refused)["code"] as? String == counted.code) }
                }
                try await eventually("four are at work") { running.withLock { $0 } == 4 }
                #expect(try await send("user:other").status == .ok)
                isOpen.withLock { $0 = true }
                #expect(try await tasks.reduce(into: []) { $0.append($1.status.code) } == Array(repeating: 200, count: 20))
            }
        }
    }

    /// Two app users whose names Unicode takes for the same text: U+212A, the Kelvin sign, is canonically equivalent to K.
    private struct EquivalentUsers: Authenticator {
        func authenticate(_ request: Request) -> Caller? {
            .user(userId: request.headers[.authorization] == "sign" ? "\u{212A}im" : "Kim")
        }
    }

    @Test("a user whose name Unicode takes for the same text takes none of another user's places")
    func equivalentUsers() async throws {
        let running = Mutex(0)
        let isOpen = Mutex(false)
        try await withEdge(authentication: AuthenticationMiddleware(EquivalentUsers())) { router in
            router.get("follows", .user) { _, context in
                if context.caller?.userId?.utf8.count == "Kim".utf8.count { return "at once" }
                running.withLock { $0 += 1 }
                try await eventually("the test lets it go on") { isOpen.withLock { $0 } }
                return "follows"
            }
        } test: { client in
            @Sendable func send(_ user: String) async throws -> Int {
                try await client.execute(uri: "/follows", method: .get, headers: [.authorization: user]).status.code
            }
            try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 1...20 { tasks.addTask { try await send("sign") } }
                try await eventually("four are at work") { running.withLock { $0 } == 4 }
                #expect(try await send("letter") == 200)
                isOpen.withLock { $0 = true }
                for try await code in tasks { #expect(code == 200) }
            }
        }
    }

    @Test("writes of a key are as many as it sends")
    func writes() async throws {
        let running = Mutex(0)
        try await withEdge(authentication: AuthenticationMiddleware(StubAuthenticator())) { router in
            router.post("attempts", .scope(.attemptsWrite), apps: .checked) { _, _ in
                running.withLock { $0 += 1 }
                try await eventually("all are at work") { running.withLock { $0 } == 30 }
                return "stored"
            }
        } test: { client in
            try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 1...30 {
                    tasks.addTask {
                        try await client.execute(uri: "/attempts", method: .post, headers: [.authorization: "Bearer attempts:write"])
                            .status.code
                    }
                }
                for try await code in tasks { #expect(code == 200) }
            }
        }
    }
}
