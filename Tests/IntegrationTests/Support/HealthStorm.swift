import Foundation

/// Many connections that send GET /health without a pause; one that is closed is opened again.
enum HealthStorm {
    struct Counts: Sendable {
        var answers = 0
        var closed = 0
    }

    private static let request = Array("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)

    /// Goes on for so many seconds, and until some connections were closed, which takes a busy machine longer.
    ///
    /// The test process needs a descriptor for each connection.
    static func run(port: Int, connections: Int, seconds: Double) async -> Counts {
        await withCheckedContinuation { continuation in
            // Polling blocks, which the threads of the concurrency pool must not.
            Thread { continuation.resume(returning: blast(port, connections, until: Date(timeIntervalSinceNow: seconds))) }.start()
        }
    }

    private static func blast(_ port: Int, _ connections: Int, until end: Date) -> Counts {
        var counts = Counts()
        var sockets = (0..<connections).map { _ in pollfd(fd: connect(to: port), events: Int16(POLLOUT), revents: 0) }
        defer { for socket in sockets { close(socket.fd) } }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while Date() < end || (counts.closed < 20 && Date() < end.addingTimeInterval(30)) {
            guard poll(&sockets, nfds_t(sockets.count), 100) > 0 else { continue }
            for index in sockets.indices where sockets[index].revents != 0 {
                let isOpen: Bool
                if sockets[index].events == Int16(POLLOUT) {
                    isOpen = send(sockets[index].fd, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
                    sockets[index].events = Int16(POLLIN)
                } else {
                    isOpen = recv(sockets[index].fd, &buffer, buffer.count, 0) > 0
                    if isOpen { counts.answers += 1 }
                    sockets[index].events = Int16(POLLOUT)
                }
                if !isOpen {
                    counts.closed += 1
                    close(sockets[index].fd)
                    sockets[index] = pollfd(fd: connect(to: port), events: Int16(POLLOUT), revents: 0)
                }
            }
        }
        return counts
    }

    /// A socket that is being connected.
    private static func connect(to port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }
}
