import HTTPClient
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore

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
    let client = CurlClient(configuration: configuration)
    defer { client.shutdown() }
    return try await body(client)
}
