import Foundation
import HTTPClient
import Logging
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ProviderSimulator

/// The simulator ends soon after it is stopped, whatever its peers do.
@Suite("Stopping the simulator", .timeLimit(.minutes(1)))
struct StoppingTests {
    @Test("a peer that connects and says nothing does not keep it")
    func silentPeer() async throws {
        let peer = try await running { _, endpoints in
            let port = try #require(URLComponents(string: endpoints.apnsURL)?.port)
            return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(host: "127.0.0.1", port: port).get()
        }
        try await peer.closeFuture.get()
    }

    @Test("an idle connection, whose client reads nothing until it needs it again, does not keep it")
    func idleClient() async throws {
        // It lives on past the simulator.
        let client = try await running { _, endpoints in
            let client = makeClient(endpoints)
            let answer = try await client.send(request(endpoints))
            #expect(answer.status == 403)
            return client
        }
        withExtendedLifetime(client) {}
    }

    @Test("clients that go on sending do not keep it; what it took is answered")
    func busyClients() async throws {
        let (recorded, answered) = try await withThrowingTaskGroup(of: Int.self) { group in
            let simulator = try await running { simulator, endpoints in
                let client = makeClient(endpoints)
                for _ in 0..<8 {
                    group.addTask {
                        var answered = 0
                        // Until nobody listens any more.
                        while let answer = try? await client.send(request(endpoints)) { answered += answer.status == 403 ? 1 : 0 }
                        return answered
                    }
                }
                try await eventually("many are answered") { simulator.statistics.total >= 50 }
                return simulator
            }
            return (simulator.statistics.total, try await group.reduce(0, +))
        }
        #expect(answered == recorded)
    }

    @Test("a connection that was accepted and is served by nobody gets no answer, and the process goes on")
    func droppedConnection() async throws {
        let authority = try CertificateAuthority(now: .now)
        let identity = try authority.issueServerCertificate(names: ["localhost"], now: .now)
        let channel = ProviderChannel(tls: try ProviderTLS((identity, identity)), connections: ConnectionRegistry()) { _, _, _ in }
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel.setup(channel: $0, logger: silent).map { _ in } }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let answer = try await Curl()("POST", "https://127.0.0.1:\(port)/", body: "{}", extra: ["--insecure", "--http2"])
        #expect(answer.exit != 0 && answer.status == 0)
        try await server.close()
    }

    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func request(_ endpoints: SimulatorEndpoints) -> OutboundRequest {
        OutboundRequest(method: "POST", url: endpoints.apnsURL + "/3/device/" + String(repeating: "ab", count: 32), body: Array("{}".utf8))
    }

    private func makeClient(_ endpoints: SimulatorEndpoints) -> CurlClient {
        var configuration = CurlClientConfiguration()
        configuration.caFile = endpoints.caFile
        configuration.connectTimeout = .seconds(30)
        return CurlClient(configuration: configuration)
    }

    private func running<Value: Sendable>(
        _ body: (ProviderSimulator, SimulatorEndpoints) async throws -> Value
    ) async throws -> Value {
        let directory = FileManager.default.temporaryDirectory.appending(path: "stopping \(UUID().uuidString)").path(percentEncoded: false)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        return try await ProviderSimulator.running(SimulatorConfiguration(directory: directory), body)
    }
}
