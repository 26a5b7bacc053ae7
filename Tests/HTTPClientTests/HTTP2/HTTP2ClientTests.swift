import Glibc
import HTTPClient
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import Synchronization
import TestSupport
import Testing

/// Runs `body` with a client that trusts the certificate.
func withHTTP2Client<R>(
    trusting certificate: ThrowawayCertificate? = nil,
    _ configure: (inout HTTP2ClientConfiguration) -> Void = { _ in },
    _ body: (HTTP2Client) async throws -> R
) async throws -> R {
    var configuration = HTTP2ClientConfiguration()
    configuration.caFile = certificate?.pemFile
    configure(&configuration)
    let client = HTTP2Client(configuration: configuration)
    defer { client.shutdown() }
    return try await body(client)
}

/// Against real HTTP/2 servers over TLS.
@Suite(.timeLimit(.minutes(2)))
struct HTTP2ClientTests {
    private func echo() -> Router<BasicRequestContext> {
        let router = Router()
        router.on("/echo", method: .post) { request, _ in
            let body = try await request.body.collect(upTo: 4 << 20)
            var headers = HTTPFields()
            headers[.init("X-Echo")!] = request.headers[.init("x-word")!]
            return Response(status: .init(code: 207), headers: headers, body: .init(byteBuffer: body))
        }
        router.on("/method", method: .delete) { request, _ in request.uri.query ?? "deleted" }
        router.on("/", method: .get) { _, _ in "root" }
        return router
    }

    /// A server whose `/wait` answers when the gate opens, and how many requests have reached it.
    private func waiting(_ gate: Gate, _ arrived: AsyncStream<Void>.Continuation) -> Router<BasicRequestContext> {
        let router = Router()
        router.post("/wait") { request, _ in
            _ = try await request.body.collect(upTo: 100)
            arrived.yield()
            await gate.wait()
            return "ok"
        }
        return router
    }

    private func wait(for count: Int, in arrivals: AsyncStream<Void>) async {
        var left = count
        for await _ in arrivals {
            left -= 1
            if left == 0 { break }
        }
    }

    @Test("headers, status and bodies make the round trip", arguments: [0, 1, 5_000, 300_000])
    func roundTrip(size: Int) async throws {
        let certificate = try ThrowawayCertificate()
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: echo()) { port in
            try await withHTTP2Client(trusting: certificate) { client in
                for host in ["127.0.0.1", "localhost"] {
                    let response = try await client.send(
                        OutboundRequest(url: "https://\(host):\(port)/echo", headers: [("X-Word", "söme")], body: body)
                    )
                    #expect(response.status == 207)
                    #expect(response.header("x-echo") == "söme")
                    #expect(response.body == body)
                    #expect(response.httpVersion == .http2)
                    #expect(response.connectionId > 0)
                }
                let deleted = try await client.send(OutboundRequest(method: "DELETE", url: "https://127.0.0.1:\(port)/method?a=b"))
                #expect(String(decoding: deleted.body, as: UTF8.self) == "a=b")
                let root = try await client.send(OutboundRequest(method: "GET", url: "https://127.0.0.1:\(port)"))
                #expect(String(decoding: root.body, as: UTF8.self) == "root")
            }
        }
    }

    @Test("a body over the bound is cut off, the status still arrives, and the connection goes on")
    func boundedBody() async throws {
        let certificate = try ThrowawayCertificate()
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: echo()) { port in
            try await withHTTP2Client(trusting: certificate, { $0.maxResponseBody = 1000 }) { client in
                let long = OutboundRequest(url: "https://127.0.0.1:\(port)/echo", body: Array(repeating: 7, count: 500_000))
                let response = try await client.send(long)
                #expect(response.status == 207 && response.isTruncated && response.body.count == 1000)
                let short = try await client.send(OutboundRequest(url: "https://127.0.0.1:\(port)/echo", body: [1]))
                #expect(short.body == [1] && short.connectionId == response.connectionId)
            }
        }
    }

    @Test("past the streams of one connection another is opened, up to the limit; and each outcome of a block comes once")
    func blocks() async throws {
        let certificate = try ThrowawayCertificate()
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: waiting(gate, arrived)) { port in
            defer { gate.open() }
            try await withHTTP2Client(
                trusting: certificate,
                {
                    $0.maxStreamsPerConnection = 10
                    $0.maxConnectionsPerHost = 4
                }
            ) { client in
                let (outcomes, outcome) = AsyncStream.makeStream(of: RequestBlock.Completion.self)
                let requests = (0..<60).map { OutboundRequest(url: "https://127.0.0.1:\(port)/wait", body: [$0], timeout: .seconds(60)) }
                client.send(requests) { for completion in $0 { outcome.yield(completion) } }
                await wait(for: 40, in: arrivals)
                gate.open()
                var seen: [Int: Int] = [:]
                var connections: Set<Int> = []
                for await completion in outcomes {
                    seen[completion.index, default: 0] += 1
                    connections.insert(try completion.result.get().connectionId)
                    if seen.count == 60 { break }
                }
                #expect(seen.values.allSatisfy { $0 == 1 })
                #expect(connections.count == 4)
            }
        }
    }

    @Test("a peer that wants one authorised request first gets one, and the rest when it is answered")
    func oneStreamFirst() async throws {
        let certificate = try ThrowawayCertificate()
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let count = Mutex(0)
        let router = Router()
        router.post("/wait") { _, _ in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            arrived.yield()
            if number == 1 { await gate.wait() }
            return "ok"
        }
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router) { port in
            defer { gate.open() }
            try await withHTTP2Client(trusting: certificate, { $0.startsWithOneStream = true }) { client in
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<20 {
                        group.addTask { try await client.send(.init(url: "https://127.0.0.1:\(port)/wait", body: [1])).connectionId }
                    }
                    await wait(for: 1, in: arrivals)
                    // Requests of another client get through meanwhile, so that those of this one would have.
                    try await withHTTP2Client(trusting: certificate) { other in
                        for _ in 0..<3 { _ = try await other.send(.init(url: "https://127.0.0.1:\(port)/wait", body: [1])) }
                    }
                    #expect(count.withLock { $0 } == 4)
                    gate.open()
                    let connections = try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                    #expect(connections.count == 1)
                }
            }
        }
    }

    @Test("a silent peer costs one timeout, and the outcome is unknown; a request without a stream by then is not written")
    func timeouts() async throws {
        let certificate = try ThrowawayCertificate()
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: waiting(gate, arrived)) { port in
            defer { gate.open() }
            try await withHTTP2Client(
                trusting: certificate,
                {
                    $0.maxConnectionsPerHost = 1
                    $0.maxStreamsPerConnection = 1
                }
            ) { client in
                let url = "https://127.0.0.1:\(port)/wait"
                async let first = #expect(throws: OutboundFailure.self) {
                    try await client.send(.init(url: url, body: [1], timeout: .seconds(1)))
                }
                await wait(for: 1, in: arrivals)
                let second = await #expect(throws: OutboundFailure.self) {
                    try await client.send(.init(url: url, body: [2], timeout: .milliseconds(300)))
                }
                #expect(second?.phase == .notWritten && second?.kind == .streamTimeout)
                let firstFailure = await first
                #expect(firstFailure?.phase == .unanswered && firstFailure?.kind == .timeout)
                let third = await #expect(throws: OutboundFailure.self) {
                    try await client.send(.init(url: url, body: [3], timeout: .seconds(60), firstByteTimeout: .milliseconds(200)))
                }
                #expect(third?.phase == .unanswered && third?.detail == "no first byte in time")
            }
        }
    }

    @Test("cancelling the task gives the request up; a client that was shut down says so")
    func endings() async throws {
        let certificate = try ThrowawayCertificate()
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: waiting(gate, arrived)) { port in
            defer { gate.open() }
            try await withHTTP2Client(trusting: certificate) { client in
                let request = OutboundRequest(url: "https://127.0.0.1:\(port)/wait", body: [1], timeout: .seconds(50))
                let cancelled = Task { try await client.send(request) }
                await wait(for: 1, in: arrivals)
                cancelled.cancel()
                let failure = await #expect(throws: OutboundFailure.self) { try await cancelled.value }
                #expect(failure?.kind == .cancelled && failure?.phase == .unanswered)
                let left = Task { try await client.send(request) }
                await wait(for: 1, in: arrivals)
                client.shutdown()
                let stopped = await #expect(throws: OutboundFailure.self) { try await left.value }
                #expect(stopped?.kind == .shutdown && stopped?.phase == .unanswered)
                let late = await #expect(throws: OutboundFailure.self) { try await client.send(request) }
                #expect(late?.kind == .shutdown && late?.phase == .notWritten)
            }
        }
    }

    @Test("a request on a reused connection that is lost is not silently sent again; the next one gets a new connection")
    func lostConnection() async throws {
        let certificate = try ThrowawayCertificate()
        let received = Mutex(0)
        let relays = Mutex<CuttableRelay?>(nil)
        let gate = Gate()
        let router = Router()
        router.post("/") { request, _ in
            _ = try await request.body.collect(upTo: 100)
            let number = received.withLock {
                $0 += 1
                return $0
            }
            if number == 2 {
                relays.withLock { $0 }?.cut()
                await gate.wait()
            }
            return "ok"
        }
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router) { port in
            defer { gate.open() }
            let relay = CuttableRelay(to: port)
            defer { relay.stop() }
            relays.withLock { $0 = relay }
            try await withHTTP2Client(trusting: certificate) { client in
                let request = OutboundRequest(url: "https://127.0.0.1:\(relay.port)/", body: [1, 2, 3])
                let first = try await client.send(request)
                let failure = await #expect(throws: OutboundFailure.self) { try await client.send(request) }
                #expect(failure?.phase == .unanswered && failure?.kind == .reset)
                let after = try await client.send(request)
                #expect(after.status == 200 && after.connectionId != first.connectionId)
                #expect(received.withLock { $0 } == 3)
            }
        }
    }

    @Test("a connection that is too old for a request takes no further ones; a younger one does")
    func tooOld() async throws {
        let certificate = try ThrowawayCertificate()
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: echo()) { port in
            try await withHTTP2Client(trusting: certificate) { client in
                var request = OutboundRequest(url: "https://127.0.0.1:\(port)/echo", body: [1])
                let first = try await client.send(request)
                let same = try await client.send(request)
                request.connectionOpenedAfter = first.connectionOpened
                let other = try await client.send(request)
                #expect(same.connectionId == first.connectionId && other.connectionId != first.connectionId)
                let again = try await client.send(request)
                #expect(again.connectionId == other.connectionId)
            }
        }
    }

    @Test("tasks that prefer the client run on its thread, before a request and after its answer; and elsewhere once it was shut down")
    func tasksOnItsThread() async throws {
        let certificate = try ThrowawayCertificate()
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: echo()) { port in
            try await withHTTP2Client(trusting: certificate) { client in
                let request = OutboundRequest(url: "https://127.0.0.1:\(port)/echo", body: [1])
                let threads = try await withThrowingTaskGroup(of: [UInt].self) { group in
                    for _ in 0..<20 {
                        group.addTask(executorPreference: client) {
                            var threads = [currentThread()]
                            for _ in 0..<3 {
                                _ = try await client.send(request)
                                threads.append(currentThread())
                            }
                            return threads
                        }
                    }
                    return try await group.reduce(into: Set<UInt>()) { $0.formUnion($1) }
                }
                #expect(threads.count == 1)
                let (gate, opened) = AsyncStream.makeStream(of: Void.self)
                let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
                let before = Task(executorPreference: client) {
                    let thread = currentThread()
                    arrived.yield()
                    for await _ in gate { break }
                    return (thread, currentThread())
                }
                await wait(for: 1, in: arrivals)
                client.shutdown()
                opened.yield()
                let (first, second) = await before.value
                #expect(threads == [first] && first != second)
                #expect(await Task(executorPreference: client) { currentThread() }.value != first)
            }
        }
    }
}

private func currentThread() -> UInt { pthread_self() }
