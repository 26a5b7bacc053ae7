import HTTPClient
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import NIOCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CurlClientTests {
    private func echo() -> Router<BasicRequestContext> {
        let router = Router()
        router.on("/echo", method: .post) { request, _ in
            let body = try await request.body.collect(upTo: 4 << 20)
            var headers = HTTPFields()
            headers[.init("X-Echo")!] = request.headers[.init("x-word")!]
            return Response(status: .init(code: 207), headers: headers, body: .init(byteBuffer: body))
        }
        router.on("/method", method: .delete) { _, _ in "deleted" }
        router.on("/method", method: .get) { _, _ in "got" }
        return router
    }

    @Test("headers, status and bodies make the round trip over both versions", arguments: [0, 1, 5_000, 300_000])
    func roundTrip(size: Int) async throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let certificate = try ThrowawayCertificate()
        for version in [OutboundResponse.Version.http1, .http2] {
            let server: HTTPServerBuilder = version == .http1 ? .http1() : try .http2Upgrade(tlsConfiguration: certificate.tls)
            try await withServer(server, router: echo()) { port in
                try await withClient({ $0.caFile = certificate.pemFile }) { client in
                    let response = try await client.send(
                        OutboundRequest(
                            url: "\(version == .http1 ? "http" : "https")://127.0.0.1:\(port)/echo",
                            headers: [("X-Word", "söme")],
                            body: body
                        )
                    )
                    #expect(response.status == 207)
                    #expect(response.header("x-echo") == "söme")
                    #expect(response.body == body)
                    #expect(response.httpVersion == version)
                    #expect(response.connectionId > 0)
                }
            }
        }
    }

    @Test("one handle serves different methods in turn")
    func methods() async throws {
        try await withServer(.http1(), router: echo()) { port in
            try await withClient { client in
                for _ in 0..<2 {
                    let deleted = try await client.send(OutboundRequest(method: "DELETE", url: "http://127.0.0.1:\(port)/method"))
                    #expect(String(decoding: deleted.body, as: UTF8.self) == "deleted")
                    let got = try await client.send(OutboundRequest(method: "GET", url: "http://127.0.0.1:\(port)/method"))
                    #expect(String(decoding: got.body, as: UTF8.self) == "got")
                    let posted = try await client.send(OutboundRequest(url: "http://127.0.0.1:\(port)/echo", body: [1, 2]))
                    #expect(posted.body == [1, 2])
                }
            }
        }
    }

    @Test("a body over the bound is cut off, the status still arrives")
    func boundedBody() async throws {
        try await withServer(.http1(), router: echo()) { port in
            try await withClient({
                $0.maxResponseBody = 1000
            }) { client in
                let response = try await client.send(
                    OutboundRequest(url: "http://127.0.0.1:\(port)/echo", body: Array(repeating: 7, count: 100_000))
                )
                #expect(response.status == 207)
                #expect(response.isTruncated)
                #expect(response.body.count == 1000)
            }
        }
    }

    @Test("a hundred requests at once share a few connections")
    func multiplexing() async throws {
        let certificate = try ThrowawayCertificate()
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let router = Router()
        router.get("/wait") { _, _ in
            arrived.yield()
            await gate.wait()
            return "ok"
        }
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router) { port in
            try await withClient({ $0.caFile = certificate.pemFile }) { client in
                let connections = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<100 {
                        group.addTask { try await client.send(.init(method: "GET", url: "https://127.0.0.1:\(port)/wait")).connectionId }
                    }
                    // All hundred are with the server at the same time before the first is answered.
                    var count = 0
                    for await _ in arrivals {
                        count += 1
                        if count == 100 { break }
                    }
                    gate.open()
                    return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                }
                #expect(connections.count <= 3)
            }
        }
    }

    @Test("past the streams of one connection another is opened")
    func sharding() async throws {
        let certificate = try ThrowawayCertificate()
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let router = Router()
        router.get("/wait") { _, _ in
            arrived.yield()
            await gate.wait()
            return "ok"
        }
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router) { port in
            try await withClient({
                $0.caFile = certificate.pemFile
                $0.maxStreamsPerConnection = 10
                $0.maxConnectionsPerHost = 4
            }) { client in
                let connections = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<60 {
                        group.addTask { try await client.send(.init(method: "GET", url: "https://127.0.0.1:\(port)/wait")).connectionId }
                    }
                    var count = 0
                    for await _ in arrivals {
                        count += 1
                        if count == 40 { break }
                    }
                    gate.open()
                    return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                }
                #expect(connections.count == 4)
            }
        }
    }
}
