import Foundation

/// A connection that is misused: held idle, or fed a byte at a time.
///
/// `@unchecked Sendable`: used by one thread at a time.
final class RawConnection: @unchecked Sendable {
    private var descriptor: Int32

    init?(port: Int) {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else {
            close(descriptor)
            descriptor = -1
            return nil
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends all of it; false when the server has closed.
    func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// Whether the server has closed or answered.
    var isEnded: Bool {
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&look, 1, 0) != 0
    }

    /// The status of the answer; nil when the connection ends without one.
    func status() -> Int? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        guard count >= 12 else { return nil }
        return Int(String(decoding: buffer[9..<12], as: UTF8.self))
    }
}
