import NIOCore
import ServiceLifecycle

extension Channel {
    /// Waits until the peer gives it up, or the simulator stops.
    func untilClosedOrShutdown() async {
        let (closed, continuation) = AsyncStream.makeStream(of: Never.self)
        closeFuture.whenComplete { _ in continuation.finish() }
        await cancelWhenGracefulShutdown {
            for await _ in closed {}
        }
    }
}
