import HTTPClient
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import NIOSSL
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CurlClientTLSTests {
    private func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("/") { _, _ in "hello" }
        return router
    }

    @Test("TLS agrees on HTTP/2 and the named authority is trusted")
    func http2OverTLS() async throws {
        let certificate = try ThrowawayCertificate()
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router()) { port in
            try await withClient({
                $0.caFile = certificate.pemFile
            }) { client in
                let response = try await client.send(.init(method: "GET", url: "https://127.0.0.1:\(port)/"))
                #expect(response.httpVersion == .http2)
                #expect(String(decoding: response.body, as: UTF8.self) == "hello")
            }
        }
    }

    @Test("a peer with HTTP/1.1 alone is used")
    func http1OverTLS() async throws {
        let certificate = try ThrowawayCertificate()
        try await withServer(try .tls(tlsConfiguration: certificate.tls), router: router()) { port in
            let request = OutboundRequest(method: "GET", url: "https://127.0.0.1:\(port)/")
            try await withClient({ $0.caFile = certificate.pemFile }) { client in
                let answer = try await client.send(request)
                #expect(answer.httpVersion == .http1)
            }
        }
    }

    @Test("a peer that accepts a connection and never answers delays no request of another group to its host and port")
    func groupsApart() async throws {
        let certificate = try ThrowawayCertificate()
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router()) { port in
            let relay = CuttableRelay(to: port, silent: 1)
            defer { relay.stop() }
            try await withClient({
                $0.caFile = certificate.pemFile
                $0.connectTimeout = .seconds(50)
            }) { client in
                var request = OutboundRequest(method: "GET", url: "https://127.0.0.1:\(relay.port)/", timeout: .seconds(50))
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    request.connectionGroup = "silent"
                    group.addTask { [request] in
                        _ = try? await client.send(request)
                        return Task.isCancelled
                    }
                    for await _ in relay.silentConnection {}
                    for name in ["a", "b"] {
                        request.connectionGroup = name
                        let answer = try await client.send(request)
                        #expect(answer.status == 200)
                    }
                    group.cancelAll()
                    #expect(try await group.next() == true, "the others were answered while it waited")
                }
            }
        }
    }

    @Test("a certificate of another authority fails before anything is written")
    func wrongAuthority() async throws {
        let certificate = try ThrowawayCertificate()
        let other = try ThrowawayCertificate()
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router()) { port in
            try await withClient({ $0.caFile = other.pemFile }) { client in
                let failure = await #expect(throws: OutboundFailure.self) {
                    try await client.send(.init(url: "https://127.0.0.1:\(port)/", body: [1]))
                }
                #expect(failure?.phase == .notWritten)
                #expect(failure?.kind == .tls)
            }
        }
    }

    @Test("a request on a reused HTTP/2 connection that is lost is not silently sent again")
    func lostConnection() async throws {
        let certificate = try ThrowawayCertificate()
        let received = Mutex(0)
        let relays = Mutex<CuttableRelay?>(nil)
        let gate = Gate()
        let router = Router()
        router.post("/") { request, _ in
            _ = try await request.body.collect(upTo: 100)
            if received.withLock({
                $0 += 1
                return $0
            }) == 2 {
                relays.withLock { $0 }?.cut()
                await gate.wait()
            }
            return "ok"
        }
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router) { port in
            let relay = CuttableRelay(to: port)
            relays.withLock { $0 = relay }
            try await withClient({ $0.caFile = certificate.pemFile }) { client in
                let request = OutboundRequest(url: "https://127.0.0.1:\(relay.port)/", body: [1, 2, 3])
                let first = try await client.send(request)
                #expect(first.httpVersion == .http2)
                let failure = await #expect(throws: OutboundFailure.self) { try await client.send(request) }
                #expect(failure?.phase == .unanswered)
                #expect(failure?.kind == .reset)
                let after = try await client.send(request)
                #expect(after.status == 200)
                #expect(received.withLock { $0 } == 3)
            }
            gate.open()
            relay.stop()
        }
    }
}
