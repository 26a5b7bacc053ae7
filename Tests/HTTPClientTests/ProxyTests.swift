import HTTPClient
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Synchronization
import TestSupport
import Testing

/// Through a proxy by HTTP CONNECT, as companies have them between their servers and Apple.
@Suite("Through a proxy", .timeLimit(.minutes(2)))
struct ProxyTests {
    private func withProxied(
        _ proxy: ConnectProxy,
        at url: String? = nil,
        connectTimeout: Duration = .seconds(20),
        router: Router<BasicRequestContext>,
        _ body: @Sendable @escaping (_ client: HTTP2Client, _ port: Int) async throws -> Void
    ) async throws {
        let certificate = try ThrowawayCertificate()
        defer { proxy.stop() }
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router) { port in
            try await withHTTP2Client(
                trusting: certificate,
                {
                    $0.proxy = url ?? "http://127.0.0.1:\(proxy.port)"
                    $0.connectTimeout = connectTimeout
                }
            ) { client in
                try await body(client, port)
            }
        }
    }

    private func echo() -> Router<BasicRequestContext> {
        let router = Router()
        router.post("/") { request, _ in String(buffer: try await request.body.collect(upTo: 1000)) }
        return router
    }

    @Test("requests share tunnels: HTTP/2 is agreed on with the server behind, and the proxy sees no more than its name")
    func tunnels() async throws {
        let proxy = ConnectProxy()
        try await withProxied(proxy, router: echo()) { client, port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let body = Array("request \(number)".utf8)
                        let answer = try await client.send(.init(url: "https://127.0.0.1:\(port)/", body: body, timeout: .seconds(60)))
                        #expect(answer.status == 200 && answer.httpVersion == .http2)
                        #expect(answer.body == body)
                    }
                }
                try await group.waitForAll()
            }
            #expect(!proxy.tunnels.isEmpty && proxy.tunnels.count <= 16)
            #expect(Set(proxy.tunnels) == ["127.0.0.1:\(port)"])
        }
    }

    @Test("a proxy that wants a password gets the one of its URL")
    func password() async throws {
        let proxy = ConnectProxy(credentials: "push:secret")
        try await withProxied(proxy, at: "http://push:secret@127.0.0.1:\(proxy.port)", router: echo()) { client, port in
            let answer = try await client.send(.init(url: "https://127.0.0.1:\(port)/", body: [65], timeout: .seconds(60)))
            #expect(answer.status == 200)
        }
    }

    @Test("a proxy that refuses the tunnel has got nothing of the request", arguments: [nil, "push:wrong@"] as [String?])
    func refused(user: String?) async throws {
        let proxy = ConnectProxy(credentials: "push:secret")
        try await withProxied(proxy, at: "http://\(user ?? "")127.0.0.1:\(proxy.port)", router: echo()) { client, port in
            let request = OutboundRequest(url: "https://127.0.0.1:\(port)/", body: [65], timeout: .seconds(60))
            let failure = await #expect(throws: OutboundFailure.self) { try await client.send(request) }
            #expect(failure?.phase == .notWritten)
            #expect(proxy.refused > 0 && proxy.tunnels.isEmpty)
        }
    }

    @Test("a proxy that says nothing costs the time for connecting")
    func silent() async throws {
        let proxy = ConnectProxy(isSilent: true)
        try await withProxied(proxy, connectTimeout: .seconds(3), router: echo()) { client, port in
            let request = OutboundRequest(url: "https://127.0.0.1:\(port)/", body: [65], timeout: .seconds(60))
            let failure = await #expect(throws: OutboundFailure.self) { try await client.send(request) }
            #expect(failure?.phase == .notWritten && failure?.kind == .connectTimeout)
        }
    }

    @Test("a tunnel that breaks under a request leaves its outcome unknown, and the next request gets another tunnel")
    func broken() async throws {
        let proxy = ConnectProxy()
        let gate = Gate()
        let received = Mutex(0)
        let router = Router()
        router.post("/") { request, _ in
            _ = try await request.body.collect(upTo: 100)
            let number = received.withLock {
                $0 += 1
                return $0
            }
            if number == 2 {
                proxy.cut()
                await gate.wait()
            }
            return "ok"
        }
        try await withProxied(proxy, router: router) { client, port in
            // The server waits for its handlers before it ends, also when a request below throws.
            defer { gate.open() }
            let request = OutboundRequest(url: "https://127.0.0.1:\(port)/", body: [1, 2, 3], timeout: .seconds(60))
            let before = try await client.send(request)
            #expect(before.status == 200)
            let failure = await #expect(throws: OutboundFailure.self) { try await client.send(request) }
            #expect(failure?.phase == .unanswered)
            let after = try await client.send(request)
            #expect(after.status == 200)
            #expect(proxy.tunnels.count == 2)
        }
    }
}
