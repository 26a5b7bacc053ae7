import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The signal that ends a server.
package enum ShutdownMode: Sendable {
    /// Ends sessions, writes a checkpoint.
    case fast
    /// At once, as in a crash; the next start recovers. For clusters that are deleted anyway.
    case immediate
}

/// Stops the server of one data directory by signal, which needs neither a task nor a child process.
struct PostmasterStopper {
    let dataDirectory: String

    /// Returns when the server has ended. A fast shutdown that takes over a minute becomes an immediate one.
    func stop(_ mode: ShutdownMode) {
        guard let server = PostmasterFile.read(dataDirectory: dataDirectory), server.isAlive else { return }
        kill(server.processID, mode == .fast ? SIGINT : SIGQUIT)
        if waitForEnd(of: server, seconds: 60) { return }
        kill(server.processID, SIGQUIT)
        if waitForEnd(of: server, seconds: 10) { return }
        kill(server.processID, SIGKILL)
        _ = waitForEnd(of: server, seconds: 5)
    }

    private func waitForEnd(of server: PostmasterFile, seconds: Int) -> Bool {
        for _ in 0..<seconds * 50 {
            guard server.isAlive else { return true }
            usleep(20_000)
        }
        return false
    }
}
