import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Synchronization
import TestSupport
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(1)))
struct CurlClientFailureTests {
    private func failure(_ client: CurlClient, _ request: OutboundRequest) async -> OutboundFailure? {
        await #expect(throws: OutboundFailure.self) { try await client.send(request) }
    }

    @Test("a refused connection is not written")
    func connectRefused() async throws {
        let peer = ScriptedPeer([{ _ in }])
        let port = peer.port
        peer.stop()
        try await withClient { client in
            let failure = await failure(client, .init(url: "http://127.0.0.1:\(port)/", body: [1]))
            #expect(failure?.phase == .notWritten)
            #expect(failure?.kind == .connect)
            #expect(failure?.description == "cannot connect to 127.0.0.1:\(port) (ConnectFailed)")
        }
    }

    @Test("a failure says in words what happened, once, with its code")
    func inWords() {
        let silent = OutboundFailure(.unanswered, .timeout, detail: "no answer in time")
        #expect(silent.description == "no answer in time (ResponseTimeout)")
        let lost = OutboundFailure(.unanswered, .reset, detail: "the connection was lost")
        #expect(lost.description == "no answer: the connection was lost (ConnectionReset)")
        let through = "Failed to connect to ::1 port 25 via proxy after 3 ms: Timeout was reached"
        #expect(CurlText.plain(through) == "cannot connect to [::1]:25 via proxy: Timeout was reached")
        #expect(CurlText.plain("Could not resolve host: x") == "Could not resolve host: x")
    }

    @Test("a name that does not resolve is not written")
    func unknownHost() async throws {
        try await withClient { client in
            let failure = await failure(client, .init(url: "http://nowhere.invalid/", body: [1]))
            #expect(failure?.phase == .notWritten)
            #expect(failure?.kind == .dns)
        }
    }

    @Test("a peer that never answers costs one timeout, and the outcome is unknown")
    func silentPeer() async throws {
        let gate = Gate()
        let router = Router()
        router.post("/") { request, _ in
            _ = try await request.body.collect(upTo: 100)
            await gate.wait()
            return "late"
        }
        try await withServer(.http1(), router: router) { port in
            try await withClient({ $0.httpVersion = .http1 }) { client in
                let failure = await failure(
                    client,
                    .init(url: "http://127.0.0.1:\(port)/", body: [1], timeout: .milliseconds(300))
                )
                #expect(failure?.phase == .unanswered)
                #expect(failure?.kind == .timeout)
            }
            gate.open()
        }
    }

    @Test("a request that waits for a free stream until its timeout is not written")
    func noFreeStream() async throws {
        let certificate = try ThrowawayCertificate()
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let router = Router()
        router.post("/") { _, _ in
            arrived.yield()
            await gate.wait()
            return "late"
        }
        try await withServer(try .http2Upgrade(tlsConfiguration: certificate.tls), router: router) { port in
            try await withClient({
                $0.caFile = certificate.pemFile
                $0.maxConnectionsPerHost = 1
                $0.maxStreamsPerConnection = 1
            }) { client in
                async let first = client.send(.init(url: "https://127.0.0.1:\(port)/", body: [1]))
                for await _ in arrivals { break }
                let failure = await failure(
                    client,
                    .init(url: "https://127.0.0.1:\(port)/", body: [2], timeout: .milliseconds(300))
                )
                #expect(failure?.phase == .notWritten)
                #expect(failure?.kind == .timeout)
                gate.open()
                let status = try await first.status
                #expect(status == 200)
            }
        }
    }

    @Test("a peer that hangs up after the request leaves the outcome unknown")
    func closedBeforeAnswer() async throws {
        let peer = ScriptedPeer([{ _ = $0.readUntil("{request}") }])
        try await withClient({ $0.httpVersion = .http1 }) { client in
            let failure = await failure(client, .init(url: "http://127.0.0.1:\(peer.port)/", body: Array("{request}".utf8)))
            #expect(failure?.phase == .unanswered)
            #expect(failure?.kind == .reset)
        }
    }

    @Test("a request on a reused connection that dies is not silently sent again")
    func reusedConnectionDies() async throws {
        let repeats = Mutex(0)
        let peer = ScriptedPeer([
            { connection in
                _ = connection.readUntil("{request}")
                connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
                _ = connection.readUntil("{request}")
            },
            { connection in
                if connection.readUntil("{request}") { repeats.withLock { $0 += 1 } }
            },
        ])
        try await withClient({ $0.httpVersion = .http1 }) { client in
            let request = OutboundRequest(url: "http://127.0.0.1:\(peer.port)/", body: Array("{request}".utf8))
            let answer = try await client.send(request)
            #expect(answer.status == 200)
            let failure = await failure(client, request)
            #expect(failure?.phase == .unanswered)
            #expect(failure?.kind == .reset)
            #expect(repeats.withLock { $0 } == 0)
        }
        peer.stop()
    }

    @Test("a refused stream is sent again, and one that everybody refuses is reported as not written")
    func refusedStream() async throws {
        let certificate = try ThrowawayCertificate()
        let refusals = Mutex(0)
        let refuse: ScriptedPeer.Step = { connection in
            guard let stream = connection.readHTTP2Request() else { return }
            refusals.withLock { $0 += 1 }
            connection.refuse(stream: stream)
            connection.readToEnd()
        }
        let peer = ScriptedPeer(Array(repeating: refuse, count: 20), certificate: certificate, isConcurrent: true)
        try await withClient({ $0.caFile = certificate.pemFile }) { client in
            let failure = await failure(client, .init(url: "https://127.0.0.1:\(peer.port)/", body: [1], timeout: .seconds(5)))
            #expect(failure?.phase == .notWritten)
            #expect(failure?.kind == .goaway)
            #expect(refusals.withLock { $0 } == 4, "once, and three times again")
        }
        peer.stop()
    }

    @Test("cancelling the task aborts the transfer")
    func cancellation() async throws {
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let router = Router()
        router.post("/") { request, _ in
            _ = try await request.body.collect(upTo: 100)
            arrived.yield()
            await gate.wait()
            return "late"
        }
        try await withServer(.http1(), router: router) { port in
            try await withClient { client in
                try await withThrowingTaskGroup(of: OutboundFailure?.self) { group in
                    group.addTask { await failure(client, .init(url: "http://127.0.0.1:\(port)/", body: [1], timeout: .seconds(50))) }
                    for await _ in arrivals { break }
                    group.cancelAll()
                    let seen = try #require(await group.next() ?? nil)
                    #expect(seen.kind == .cancelled)
                    #expect(seen.phase == .unanswered)
                }
            }
            gate.open()
        }
    }

    @Test("a client that was shut down says so")
    func shutDown() async throws {
        try await withClient { client in
            client.shutdown()
            let failure = await failure(client, .init(url: "http://127.0.0.1:1/"))
            #expect(failure?.kind == .shutdown)
            #expect(failure?.phase == .notWritten)
        }
    }
}
