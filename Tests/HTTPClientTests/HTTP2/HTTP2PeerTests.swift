import Foundation
import HTTPClient
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Synchronization
import TestSupport
import Testing

/// Peers that are away, unfriendly or broken, over real TLS.
@Suite(.timeLimit(.minutes(2)))
struct HTTP2PeerTests {
    func failure(_ client: HTTP2Client, _ request: OutboundRequest) async -> OutboundFailure? {
        await #expect(throws: OutboundFailure.self) { try await client.send(request) }
    }

    func request(_ port: Int, timeout: Duration = .seconds(20)) -> OutboundRequest {
        OutboundRequest(url: "https://127.0.0.1:\(port)/", body: [1, 2, 3], timeout: timeout)
    }

    /// Answers every request on the connection.
    static let serve: ScriptedPeer.Step = { connection in serve(connection, connection.readHTTP2Request()) }

    /// This request, and those that follow it.
    static func serve(_ connection: PeerConnection, _ first: UInt32?) {
        var stream = first
        while let found = stream {
            connection.answer(stream: found)
            stream = connection.nextRequest()
        }
    }

    // MARK: Opening

    @Test("nobody there, no such name, an address that is not https: not written, each with its cause")
    func unreachable() async throws {
        let peer = ScriptedPeer([])
        let port = peer.port
        peer.stop()
        try await withHTTP2Client { client in
            let refused = await failure(client, request(port))
            #expect(refused?.phase == .notWritten && refused?.kind == .connectRefused)
            let unknown = await failure(client, .init(url: "https://nowhere.invalid/", body: [1]))
            #expect(unknown?.phase == .notWritten && unknown?.kind == .dns)
            let plain = await failure(client, .init(url: "http://127.0.0.1/", body: [1]))
            #expect(plain?.phase == .notWritten && plain?.detail.contains("https") == true)
        }
    }

    @Test("a peer whose backlog is full answers no connection request")
    func fullBacklog() async throws {
        let listener = try FullBacklog()
        try await withHTTP2Client({ $0.connectTimeout = .milliseconds(500) }) { client in
            let failure = await failure(client, request(listener.port))
            #expect(failure?.phase == .notWritten && failure?.kind == .connectTimeout)
        }
    }

    @Test("addresses are tried in turn")
    func addresses() async throws {
        // `localhost` has an address of each family where the machine has both; the peer listens on one of them.
        let certificate = try ThrowawayCertificate()
        let peer = ScriptedPeer([Self.serve], certificate: certificate)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let answer = try await client.send(.init(url: "https://localhost:\(peer.port)/", body: [1]))
            #expect(answer.status == 200)
        }
    }

    @Test("a certificate of another authority, or for another host, fails before anything is written")
    func wrongCertificates() async throws {
        let certificate = try ThrowawayCertificate()
        let foreign = try ThrowawayCertificate(names: ["elsewhere.example"])
        let reached = Mutex(0)
        let step: ScriptedPeer.Step = { connection in if connection.readSome() != nil { reached.withLock { $0 += 1 } } }
        let expired = try ThrowawayCertificate(validUntil: Date().addingTimeInterval(-60))
        for (peer, trusted, kind) in [
            (ScriptedPeer([step], certificate: certificate), foreign, OutboundFailure.Kind.notTrusted),
            (ScriptedPeer([step], certificate: foreign), foreign, .wrongHost),
            (ScriptedPeer([step], certificate: expired), expired, .certificateExpired),
        ] {
            try await withHTTP2Client(trusting: trusted) { client in
                let failure = await failure(client, request(peer.port))
                #expect(failure?.phase == .notWritten && failure?.kind == kind)
                #expect(failure?.detail.contains("certificate") == true)
            }
            peer.stop()
        }
        #expect(reached.withLock { $0 } == 0)
    }

    @Test("an authority file that cannot be read is named")
    func missingAuthority() async throws {
        try await withHTTP2Client {
            $0.caFile = "/nowhere/ca.pem"
        } _: { client in
            let failure = await failure(client, request(1))
            #expect(failure?.kind == .tls && failure?.detail.contains("/nowhere/ca.pem") == true)
        }
    }

    @Test("a peer with HTTP/1.1 alone is refused before anything is written")
    func http1Only() async throws {
        let certificate = try ThrowawayCertificate()
        try await withServer(try .tls(tlsConfiguration: certificate.tls), router: Router()) { port in
            try await withHTTP2Client(trusting: certificate) { client in
                let failure = await failure(client, request(port))
                #expect(failure?.phase == .notWritten && failure?.kind == .noHTTP2)
                #expect(failure?.detail.contains("ALPN") == true)
            }
        }
    }

    @Test("a peer that accepts and says nothing costs the time for connecting", arguments: [true, false])
    func silentOpening(agreesOnTLS: Bool) async throws {
        let certificate = try ThrowawayCertificate()
        let peer = ScriptedPeer([{ $0.readToEnd() }], certificate: agreesOnTLS ? certificate : nil)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate, { $0.connectTimeout = .milliseconds(500) }) { client in
            let failure = await failure(client, request(peer.port))
            #expect(failure?.phase == .notWritten && failure?.kind == .connectTimeout)
        }
    }

    @Test("a peer that wants a client certificate gets it; without one it is a refused credential, and nothing was processed")
    func clientCertificate() async throws {
        let certificate = try ThrowawayCertificate()
        let refusing = ScriptedPeer([Self.serve], certificate: certificate, wantsClientCertificate: true)
        defer { refusing.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let failure = await failure(client, request(refusing.port))
            #expect(failure?.phase == .notWritten && failure?.kind == .clientCertificate)
        }
        let accepting = ScriptedPeer([Self.serve], certificate: certificate, wantsClientCertificate: true)
        defer { accepting.stop() }
        try await withHTTP2Client(trusting: certificate, { $0.clientCertificateFile = certificate.serverFile }) { client in
            let status = try await client.send(request(accepting.port)).status
            #expect(status == 200)
        }
    }

    @Test("the next connection to an origin goes on from the TLS session of the last")
    func resumption() async throws {
        let certificate = try ThrowawayCertificate()
        let resumed = Mutex<[Bool]>([])
        let step: ScriptedPeer.Step = { connection in
            resumed.withLock { $0.append(connection.isResumed) }
            Self.serve(connection)
        }
        let peer = ScriptedPeer([step, step], certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let first = try await client.send(request(peer.port))
            var second = request(peer.port)
            second.connectionOpenedAfter = first.connectionOpened
            let status = try await client.send(second).status
            #expect(status == 200 && resumed.withLock { $0 } == [false, true])
        }
    }

    @Test("what is known of an origin outlasts its last connection")
    func originWithoutConnections() async throws {
        let certificate = try ThrowawayCertificate()
        let resumed = Mutex<[Bool]>([])
        let step: ScriptedPeer.Step = { connection in
            resumed.withLock { $0.append(connection.isResumed) }
            Self.serve(connection)
        }
        let peer = ScriptedPeer([step, step], certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        let silent = ScriptedPeer([{ $0.readToEnd() }], certificate: certificate)
        defer { silent.stop() }
        try await withHTTP2Client(trusting: certificate, { $0.idleLifetime = .zero }) { client in
            _ = try await client.send(request(peer.port))
            // Long enough for the loop to look several times at what is idle.
            let unanswered = await failure(client, request(silent.port, timeout: .seconds(1)))
            #expect(unanswered?.kind == .connectTimeout)
            _ = try await client.send(request(peer.port))
            #expect(resumed.withLock { $0 } == [false, true])
        }
    }

    @Test("a connection past its age, or idle for too long, is replaced; nothing is lost over it", arguments: [true, false])
    func limits(ofAge: Bool) async throws {
        let certificate = try ThrowawayCertificate()
        let peer = ScriptedPeer([Self.serve, Self.serve], certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(
            trusting: certificate,
            { if ofAge { $0.maxAge = .milliseconds(200) } else { $0.idleLifetime = .zero } }
        ) { client in
            let first = try await client.send(request(peer.port))
            var answer = first
            // The limits are looked at ten times a second.
            while answer.connectionId == first.connectionId, peer.connections == 1 {
                answer = try await client.send(request(peer.port))
                await Task.yield()
            }
            #expect(answer.status == 200)
        }
    }

    // MARK: What the peer did not process

    @Test("a refused stream is sent again at once on another connection; one that everybody refuses is not written")
    func refused() async throws {
        let certificate = try ThrowawayCertificate()
        let refuse: ScriptedPeer.Step = { connection in
            guard let stream = connection.readHTTP2Request() else { return }
            connection.refuse(stream: stream)
            connection.readToEnd()
        }
        let peer = ScriptedPeer([refuse, Self.serve], certificate: certificate)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let status = try await client.send(request(peer.port)).status
            #expect(status == 200 && peer.connections == 2)
        }
        let stubborn = ScriptedPeer(Array(repeating: refuse, count: 20), certificate: certificate)
        defer { stubborn.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let failure = await failure(client, request(stubborn.port))
            #expect(failure?.phase == .notWritten && failure?.kind == .goaway)
            #expect(stubborn.connections == 4)
        }
    }

    @Test("a GOAWAY that disowns the stream sends it again, one that keeps it answers it", arguments: [true, false])
    func goaway(disowns: Bool) async throws {
        let certificate = try ThrowawayCertificate()
        let peer = ScriptedPeer(
            [
                { connection in
                    guard let stream = connection.readHTTP2Request() else { return }
                    connection.goAway(lastStream: 0x7fff_ffff)
                    connection.goAway(lastStream: disowns ? 0 : stream)
                    if !disowns { connection.answer(stream: stream) }
                    connection.readToEnd()
                }, Self.serve,
            ],
            certificate: certificate
        )
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let status = try await client.send(request(peer.port)).status
            #expect(status == 200 && peer.connections == (disowns ? 2 : 1))
            if !disowns {
                let next = try await client.send(request(peer.port)).status
                #expect(next == 200 && peer.connections == 2, "the connection takes nothing after it")
            }
        }
    }

    @Test("a GOAWAY before any request, or before SETTINGS, costs another connection and no request", arguments: [true, false])
    func earlyGoaway(hasSettings: Bool) async throws {
        let certificate = try ThrowawayCertificate()
        let peer = ScriptedPeer(
            [
                { connection in
                    if hasSettings { connection.write(frame(type: 4, stream: 0)) }
                    connection.goAway(lastStream: 0)
                    connection.readToEnd()
                }, Self.serve,
            ],
            certificate: certificate,
            isConcurrent: true
        )
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let status = try await client.send(request(peer.port)).status
            #expect(status == 200 && peer.connections == 2)
        }
    }

    @Test("a peer that ends every connection before it is used is tried a few times, and the error states its reason")
    func alwaysGoaway() async throws {
        let certificate = try ThrowawayCertificate()
        let step: ScriptedPeer.Step = { connection in
            connection.write(frame(type: 4, stream: 0))
            connection.goAway(lastStream: 0)
            connection.readToEnd()
        }
        let peer = ScriptedPeer(Array(repeating: step, count: 50), certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let failure = await failure(client, request(peer.port))
            #expect(failure?.phase == .notWritten && failure?.detail.contains("GOAWAY") == true)
            #expect(peer.connections == 4)
        }
    }

    @Test("a peer that hangs up: what it has read is unanswered, what it cannot have read goes again")
    func hangsUp() async throws {
        let certificate = try ThrowawayCertificate()
        let peer = ScriptedPeer([{ _ = $0.readHTTP2Request() }], certificate: certificate)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let failure = await failure(client, request(peer.port))
            #expect(failure?.phase == .unanswered && failure?.kind == .reset)
        }
        // Closed after the handshake, before SETTINGS: nothing was sent.
        let shy = ScriptedPeer([{ _ in }, { _ in }, Self.serve], certificate: certificate)
        defer { shy.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let status = try await client.send(request(shy.port)).status
            #expect(status == 200 && shy.connections == 3)
        }
    }

    @Test("connections that take requests and answer none are opened at a slower pace, too")
    func hangsUpEachTime() async throws {
        let certificate = try ThrowawayCertificate()
        let peer = ScriptedPeer(Array(repeating: { _ = $0.readHTTP2Request() }, count: 4), certificate: certificate)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let started = ContinuousClock.now
            for _ in 0..<4 {
                let failure = await failure(client, request(peer.port))
                #expect(failure?.phase == .unanswered)
            }
            #expect(peer.connections == 4)
            #expect(ContinuousClock.now - started >= .milliseconds(350), "pauses of 50, 100 and 200 ms")
        }
    }

    @Test("an answer that arrives in the moment of the shutdown is not lost")
    func shutDownWithAnswer() async throws {
        let certificate = try ThrowawayCertificate()
        let (stopped, answered) = (Gate(), Gate())
        let peer = ScriptedPeer(
            [
                { connection in
                    guard let first = connection.readHTTP2Request(), let second = connection.nextRequest() else { return }
                    connection.answer(stream: first)
                    stopped.waitBlocking()
                    connection.answer(stream: second)
                    connection.waitUntilReceived()
                    answered.open()
                    connection.readToEnd()
                }
            ],
            certificate: certificate
        )
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            let (outcomes, outcome) = AsyncStream.makeStream(of: RequestBlock.Completion.self)
            client.send([request(peer.port), request(peer.port)]) { completions in
                // On the client's thread: its next turn finds the order to stop and the second answer.
                client.shutdown()
                stopped.open()
                answered.waitBlocking()
                for completion in completions { outcome.yield(completion) }
            }
            var ended: Set<Int> = []
            for await completion in outcomes where ended.insert(completion.index).inserted && ended.count == 2 { break }
            #expect(ended == [0, 1])
        }
    }

    // MARK: Nonsense

    @Test("a peer that talks nonsense at any step fails the requests that it had, and no later ones", arguments: 0..<5)
    func nonsense(step: Int) async throws {
        let certificate = try ThrowawayCertificate()
        let garbage = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 197 &+ step) }
        let nonsense: ScriptedPeer.Step = { connection in
            if step == 0 { return connection.write(garbage) }
            guard let stream = connection.readHTTP2Request() else { return }
            switch step {
            case 1: connection.write(garbage)
            case 2: connection.write(frame(type: 1, flags: 4, stream: stream, payload: garbage))
            case 3: connection.write(frame(type: 0, flags: 1, stream: stream, payload: [1, 2, 3]))
            // Two statuses: the stream's fault, not the connection's.
            default: connection.write(frame(type: 1, flags: 5, stream: stream, payload: [0x88, 0x88]))
            }
            if let next = connection.nextRequest() { connection.answer(stream: next) }
            connection.readToEnd()
        }
        let peer = ScriptedPeer([nonsense, Self.serve, Self.serve], certificate: certificate, isConcurrent: true)
        defer { peer.stop() }
        try await withHTTP2Client(trusting: certificate) { client in
            do throws(OutboundFailure) {
                let answer = try await client.send(request(peer.port, timeout: .seconds(5)))
                // Before a request was written the next connection serves it.
                #expect(step == 0 && answer.status == 200)
            } catch {
                #expect(error.phase == .unanswered, "\(error)")
            }
            let status = try await client.send(request(peer.port)).status
            #expect(status == 200)
        }
    }
}

/// Listens, accepts nothing, and has no place for another connection: the kernel drops further requests for one.
private final class FullBacklog {
    let port: Int
    private var descriptors: [Int32] = []

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptors = [listener]
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0 }
        }
        guard bound, listen(listener, 0) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        for _ in 0..<4 {
            let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            descriptors.append(filler)
            withUnsafePointer(to: &address) {
                _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(filler, $0, size) }
            }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
