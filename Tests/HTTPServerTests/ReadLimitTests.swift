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
        let statuses = Mutex<[Int]>([])
        try await withEdge(authentication: AuthenticationMiddleware(StubAuthenticator())) { router in
            router.get("alerts", .scope(.alertsRead)) { _, _ in
                running.withLock { $0 += 1 }
                try await eventually("the test lets it go on") { isOpen.withLock { $0 } }
                return "alerts"
            }
        } test: { client in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 1...23 {
                    tasks.addTask {
                        let answer = try await client.execute(uri: "/alerts", method: method, headers: [.authorization: "Bearer alerts:read"])
                        statuses.withLock { $0.append(answer.status.code) }
                    }
                }
                try await eventually("three are refused") { statuses.withLock { $0 } == [429, 429, 429] }
                #expect(running.withLock { $0 } == 4)
                isOpen.withLock { $0 = true }
                try await tasks.waitForAll()
            }
            #expect(statuses.withLock { $0.count { $0 == 200 } } == 20)
        }
    }
}
