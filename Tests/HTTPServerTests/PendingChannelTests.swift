import HTTPServer
import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PendingChannelTests {
    @Test("a connection that is accepted and dropped before anybody serves it is closed, and the process goes on")
    func dropped() async throws {
        let connection = NIOAsyncTestingChannel()
        let http1 = PendingHTTP1Channel(responder: { _, _, _ in })
        try await connection.testingEventLoop.executeInContext {
            _ = http1.setup(channel: connection, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        // Fails if it is closed already.
        try? await connection.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80))
        let isClosed = Mutex(false)
        connection.closeFuture.whenComplete { _ in isClosed.withLock { $0 = true } }
        try await eventually("it is closed", within: .seconds(30)) { isClosed.withLock { $0 } }
    }
}
