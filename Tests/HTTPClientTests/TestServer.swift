import Glibc
import HTTPClient
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import Synchronization

/// Runs a real server on a free port while `body` runs.
func withServer<R: Sendable>(
    _ server: HTTPServerBuilder,
    router: Router<BasicRequestContext>,
    _ body: @Sendable @escaping (Int) async throws -> R
) async throws -> R {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    var logger = Logger(label: "server")
    logger.logLevel = .critical
    let application = Application(
        router: router,
        server: server,
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
        logger: logger
    )
    return try await withThrowingTaskGroup(of: R?.self) { group in
        group.addTask {
            try await application.run()
            return nil
        }
        group.addTask {
            for await port in ports { return try await body(port) }
            return nil
        }
        defer { group.cancelAll() }
        while let result = try await group.next() {
            if let result { return result }
        }
        throw CancellationError()
    }
}

/// A client that lives as long as `body`.
func withClient<R>(
    _ configure: (inout CurlClientConfiguration) -> Void = { _ in },
    _ body: (CurlClient) async throws -> R
) async throws -> R {
    var configuration = CurlClientConfiguration()
    configure(&configuration)
    let client = CurlClient(configuration: configuration, logger: Logger(label: "client"))
    defer { client.shutdown() }
    return try await body(client)
}

/// Opens once, for everybody who waits. `open` is synchronous, so that a `defer` can release the waiters of a test that throws.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func wait() async {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(waiter) }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
    }

    /// For the thread of a scripted peer.
    func waitBlocking() {
        while !state.withLock({ $0.isOpen }) { usleep(10_000) }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
