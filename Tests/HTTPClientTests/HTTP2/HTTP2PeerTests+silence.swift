import Foundation
import HTTPClient
import Synchronization
import TestSupport
import Testing

/// Peers that say nothing any more: PINGs, and what becomes of idle connections.
extension HTTP2PeerTests {
    /// Answers one request, then reads on without a word, as a host that was cut off would. Says when a PING arrives.
    private func falling(silent pinged: AsyncStream<Void>.Continuation) -> ScriptedPeer.Step {
        { connection in
            guard let stream = connection.readHTTP2Request() else { return }
            connection.answer(stream: stream)
            while let (type, flags, _, _) = connection.nextFrame() {
                if type == 6, flags & 1 == 0 { pinged.yield() }
            }
        }
    }

    @Test("an idle connection is asked by PING when a request comes, and is not used until it has answered; else another one is opened")
    func idleConnection() async throws {
        let certificate = try ThrowawayCertificate()
        let (pings, pinged) = AsyncStream.makeStream(of: Void.self)
        let peer = ScriptedPeer([falling(silent: pinged), Self.serve], certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(
            trusting: certificate,
            {
                $0.trustedSilence = .zero
                $0.pingInterval = .seconds(60)
                $0.pingTimeout = .seconds(2)
            }
        ) { client in
            let first = try await client.send(request(peer.port))
            let second = try await client.send(request(peer.port))
            #expect(second.status == 200 && second.connectionId != first.connectionId)
        }
        pinged.finish()
        let count = await pings.reduce(into: 0) { count, _ in count += 1 }
        #expect(count == 1)
    }

    @Test("an idle connection that answers its PING takes the request")
    func idleConnectionAnswers() async throws {
        let certificate = try ThrowawayCertificate()
        let peer = ScriptedPeer([Self.serve, Self.serve], certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate, { $0.trustedSilence = .zero }) { client in
            let first = try await client.send(request(peer.port))
            let second = try await client.send(request(peer.port))
            #expect(second.status == 200 && second.connectionId == first.connectionId)
        }
    }

    @Test("of connections that idled together one is asked; if it is lost, the others are not used either")
    func idleTogether() async throws {
        let certificate = try ThrowawayCertificate()
        let (pings, pinged) = AsyncStream.makeStream(of: Void.self)
        let both = Gate()
        let requests = Mutex(0)
        // The connections of the first two requests fall silent when both are answered; others serve.
        let step: ScriptedPeer.Step = { connection in
            guard let stream = connection.readHTTP2Request() else { return }
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            if number > 2 { return Self.serve(connection, stream) }
            if number == 2 { both.open() }
            both.waitBlocking()
            connection.answer(stream: stream)
            while let (type, flags, _, _) = connection.nextFrame() {
                if type == 6, flags & 1 == 0 { pinged.yield() }
            }
        }
        let peer = ScriptedPeer(Array(repeating: step, count: 8), certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(
            trusting: certificate,
            {
                $0.maxStreamsPerConnection = 1
                $0.trustedSilence = .zero
                $0.pingInterval = .seconds(60)
                $0.pingTimeout = .seconds(2)
            }
        ) { client in
            async let first = client.send(request(peer.port))
            async let second = client.send(request(peer.port))
            let used = try await [first.connectionId, second.connectionId]
            let third = try await client.send(request(peer.port))
            #expect(third.status == 200 && Set(used + [third.connectionId]).count == 3)
        }
        pinged.finish()
        let count = await pings.reduce(into: 0) { count, _ in count += 1 }
        #expect(count == 1)
    }

    @Test("a connection on which nothing came while a request was waited for takes no further requests")
    func silentUntilTimeout() async throws {
        let certificate = try ThrowawayCertificate()
        let (_, pinged) = AsyncStream.makeStream(of: Void.self)
        let peer = ScriptedPeer([falling(silent: pinged), Self.serve], certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let first = try await client.send(request(peer.port))
            let failure = await failure(client, request(peer.port, timeout: .milliseconds(500)))
            #expect(failure?.phase == .unanswered && failure?.kind == .timeout && failure?.connectionId == first.connectionId)
            let next = try await client.send(request(peer.port))
            #expect(next.status == 200 && next.connectionId != first.connectionId)
        }
    }

    @Test("a connection that goes silent under a request is found by PING, long before the request's own time")
    func silentUnderRequest() async throws {
        let certificate = try ThrowawayCertificate()
        let (_, pinged) = AsyncStream.makeStream(of: Void.self)
        let peer = ScriptedPeer([falling(silent: pinged), Self.serve], certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(
            trusting: certificate,
            {
                $0.pingInterval = .milliseconds(500)
                $0.pingTimeout = .milliseconds(200)
            }
        ) { client in
            _ = try await client.send(request(peer.port))
            let failure = await failure(client, request(peer.port, timeout: .seconds(100)))
            #expect(failure?.phase == .unanswered && failure?.detail.contains("PING") == true)
            let status = try await client.send(request(peer.port)).status
            #expect(status == 200)
        }
    }

    @Test("a peer that stops reading holds up its own requests until their time, and not longer")
    func stopsReading() async throws {
        let certificate = try ThrowawayCertificate()
        let gate = Gate()
        let peer = ScriptedPeer(
            [
                { connection in
                    // A large window, then nothing is read.
                    connection.write(frame(type: 4, stream: 0, payload: [0, 4, 0x7f, 0xff, 0xff, 0xff]))
                    connection.write(frame(type: 8, stream: 0, payload: [0x3f, 0xff, 0xff, 0xff]))
                    gate.waitBlocking()
                }
            ],
            certificate: certificate
        )
        defer {
            gate.open()
            peer.stop()
        }
        try await withHTTP2Client(trusting: certificate) { client in
            let request = OutboundRequest(
                url: "https://127.0.0.1:\(peer.port)/",
                body: Array(repeating: 1, count: 30 << 20),
                timeout: .seconds(2)
            )
            let failure = await failure(client, request)
            #expect(failure?.phase == .notWritten && failure?.kind == .timeout)
        }
    }
}
