import Foundation

/// A connection over which a test sends bytes as they are.
enum RawConnection {
    struct Answer: Sendable {
        /// Of each answer, in order; informational ones too.
        var statuses: [Int]
        var text: String
        /// The server ended the connection, and did not reset it.
        var isEnded: Bool

        var problems: Int { text.components(separatedBy: "application/problem+json").count - 1 }
    }

    /// Sends each piece, the next one when `answers` of the one before it have arrived, then reads to the end of the connection, at most
    /// 20 s.
    static func exchange(_ pieces: [(bytes: [UInt8], answers: Int)], port: Int) async -> Answer {
        await withCheckedContinuation { continuation in
            // Reading blocks, which the threads of the concurrency pool must not.
            Thread { continuation.resume(returning: talk(pieces, port)) }.start()
        }
    }

    private static func talk(_ pieces: [(bytes: [UInt8], answers: Int)], _ port: Int) -> Answer {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        var received: [UInt8] = []
        var isEnded = false
        func receive() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            isEnded = count == 0
            if count > 0 { received += buffer.prefix(count) }
            return count > 0
        }
        guard connected == 0 else { return Answer(statuses: [], text: "", isEnded: false) }
        for piece in pieces {
            _ = send(descriptor, piece.bytes, piece.bytes.count, Int32(MSG_NOSIGNAL))
            let wanted = statuses(received).count + piece.answers
            while statuses(received).count < wanted, receive() {}
        }
        while receive() {}
        return Answer(statuses: statuses(received), text: String(decoding: received, as: UTF8.self), isEnded: isEnded)
    }

    private static func statuses(_ bytes: [UInt8]) -> [Int] {
        String(decoding: bytes, as: UTF8.self).matches(of: /HTTP\/1\.1 (\d{3})/).compactMap { Int($0.1) }
    }
}
