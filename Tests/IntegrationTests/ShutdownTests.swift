import Foundation
import HTTPServer
import Hummingbird
import Logging
import ServiceLifecycle
import TestDatabase
import TestSupport
import Testing

@testable import Server

extension WholeService {
    @Suite("Shutdown")
    struct ShutdownTests {
        /// Ends when it is cancelled, and not before.
        private struct BusyListener: Service {
            func run() async throws { try await Task.sleep(for: .seconds(3_600)) }
        }

        @Test("listeners that do not end are cancelled, and the services behind them end as usual", .timeLimit(.minutes(1)))
        func limitsListeners() async throws {
            struct Writer: Service {
                let hasEnded: Gate

                func run() async throws {
                    try await gracefulShutdown()
                    hasEnded.open()
                }
            }
            let hasEnded = Gate()
            let listeners = ListenerService(listeners: [BusyListener(), BusyListener()], shutdownLimit: .milliseconds(1))
            let group = ServiceGroup(services: [Writer(hasEnded: hasEnded), listeners], logger: .silent)
            async let ended: Void = group.run()
            await group.triggerGracefulShutdown()
            await hasEnded.wait()
            try await ended
        }

        @Test("a listener that fails ends the others, and says why")
        func listenerFails() async throws {
            struct BrokenListener: Service {
                func run() async throws { throw ConfigurationError("broken") }
            }
            let listeners = ListenerService(listeners: [BusyListener(), BrokenListener()], shutdownLimit: .seconds(3_600))
            let error = await #expect(throws: ConfigurationError.self) { try await listeners.run() }
            #expect(error?.description == "broken")
        }

        @Test("while it drains, readiness is 503 and new connections are served as before; whoever has no patience ends it")
        func drains() async throws {
            try await withDatabaseURL { database in
                var configuration = ServerConfiguration.bare(database)
                configuration.httpDrain = .seconds(3_600)
                let (urls, listening) = AsyncStream<String>.makeStream()
                var hooks = PushwatchServer.Hooks()
                hooks.onListening = { listening.yield($0) }
                let server = PushwatchServer(configuration: configuration, metrics: MetricsRegistry(), hooks: hooks, logger: .silent)
                let group = ServiceGroup(services: [ServerService(server: server)], logger: .silent)
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask {
                        defer { listening.finish() }
                        try? await group.run()
                    }
                    defer { tasks.cancelAll() }
                    var iterator = urls.makeAsyncIterator()
                    let url = try #require(await iterator.next())
                    let balancer = API(url: url, bearer: nil)
                    try await eventually("the server is ready") { try await balancer.get("/health/ready").status == 200 }
                    await group.triggerGracefulShutdown()
                    try await eventually("the balancer sees it") {
                        let answer = try await balancer.get("/health/ready")
                        return answer.status == 503 && answer.json["status"] as? String == "draining"
                    }
                    let caller = API(url: url, bearer: RunningServer.bootstrapKey)
                    #expect(try await caller.get("/attempts?uid=nobody").status == 200)
                }
            }
        }

        @Test("what was never ready does not drain, and what was ends after its time", arguments: [(false, 3_600), (true, 0)])
        func endsDraining(wasReady: Bool, seconds: Int) async throws {
            let health = Health()
            if wasReady { health.markStarted() }
            let group = ServiceGroup(services: [DrainSignal(health: health, duration: .seconds(seconds), logger: .silent)], logger: .silent)
            await group.triggerGracefulShutdown()
            try await group.run()
            #expect(await health.readiness().status == "draining")
        }

        @Test("the log says which version starts with which roles, and that it ends; it says nothing twice")
        func log() async throws {
            let log = RecordingLog()
            var configuration = ServerConfiguration.bare("postgresql://nobody@127.0.0.1:1/none")
            configuration.version = "1.2.3"
            configuration.roles = [.send, .api]
            try await withServer(configuration, logger: log.logger) { _ in }
            let events = log.events.filter { ["starting", "ending", "ended"].contains("\($0.message)") }
            #expect(events.map { "\($0.level) \($0.message)" } == ["notice starting", "notice ending", "notice ended"])
            let start = try #require(events.first?.metadata)
            #expect(start == ["version": "1.2.3", "roles": "api,send", "addresses": "http://127.0.0.1:0"])
            #expect(events.dropFirst().first?.metadata == ["drainSeconds": "0"])
            #expect(!log.events.contains { $0.source == "HummingbirdCore" }, "\(log.events.map(\.message))")
        }

        @Test("a client that reads no response and a request that never ends take their limit and no more of the time for a shutdown")
        func stuckConnections() async throws {
            try await withDatabaseURL { database in
                var configuration = ServerConfiguration.bare(database)
                configuration.httpShutdownLimit = .milliseconds(500)
                let isUnderWay = Gate()
                var hooks = PushwatchServer.Hooks()
                hooks.routes = { router in
                    router.get("never", .open) { _, _ in
                        isUnderWay.open()
                        try await Task.sleep(for: .seconds(3_600))
                        return Response(status: .ok)
                    }
                }
                let (connections, start) = try await withServer(configuration, hooks: hooks) { url in
                    let api = API(url: url, bearer: nil)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    let port = try #require(URL(string: url)?.port)
                    let never = UnreadConnection(port: port)
                    await never.send("GET /never HTTP/1.1\r\nhost: localhost\r\n\r\n")
                    await isUnderWay.wait()
                    let unread = UnreadConnection(port: port)
                    await unread.fill(with: "GET /assets/pushwatch.css HTTP/1.1\r\nhost: localhost\r\n\r\n")
                    return ([never, unread], ContinuousClock.now)
                }
                #expect(ContinuousClock.now - start < .seconds(20), "less than the 28 s that all services have")
                withExtendedLifetime(connections) {}
            }
        }
    }
}

/// A client's connection that reads nothing.
private final class UnreadConnection: Sendable {
    private let descriptor: Int32

    init(port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // Little space for what the server writes.
        var space: Int32 = 4_096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &space, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    deinit { close(descriptor) }

    func send(_ text: String) async { await onThread { _ = self.sendNow(Array(text.utf8)[...]) } }

    /// Sends the text again and again, until the server has taken no more of it for a second.
    func fill(with text: String) async {
        await onThread {
            let bytes = Array(String(repeating: text, count: 100).utf8)
            var rest = bytes[...]
            var isReady = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
            while poll(&isReady, 1, 1_000) == 1 {
                let sent = self.sendNow(rest)
                guard sent > 0 else { return }
                rest = sent < rest.count ? rest.dropFirst(sent) : bytes[...]
            }
        }
    }

    /// How many of the bytes there was space for.
    private func sendNow(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) }
    }

    /// Polling blocks, which the threads of the cooperative pool must not.
    private func onThread(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread {
                work()
                continuation.resume()
            }.start()
        }
    }
}
