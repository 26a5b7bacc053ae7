import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Reads of one caller at a time")
struct ReadLimitTests {
    @Test("four are answered at a time, sixteen wait, further ones are 429", arguments: [HTTPRequest.Method.get, .head])
    func limit(method: HTTPRequest.Method) async throws {
        let running = Mutex(0)
        let isOpen = Mutex(false)
        try await withEdge(authentication: AuthenticationMiddleware(StubAuthenticator())) { router in
            router.get("alerts", .scope(.alertsRead)) { _, _ in
                running.withLock { $0 += 1 }
                try await eventually("the test lets it go on") { isOpen.withLock { $0 } }
                return "alerts"
            }
        } test: { client in
            try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 1...23 {
                    tasks.addTask {
                        try await client.execute(uri: "/alerts", method: method, headers: [.authorization: "Bearer alerts:read"]).status
                            .code
                    }
                }
                // None of the others is answered before the test lets them.
                for _ in 1...3 { #expect(try await tasks.next() == 429) }
                try await eventually("four are at work") { running.withLock { $0 } == 4 }
                isOpen.withLock { $0 = true }
                #expect(try await tasks.reduce(into: []) { $0.append($1) } == Array(repeating: 200, count: 20))
            }
        }
    }
}
