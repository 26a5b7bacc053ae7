import Foundation

/// A blocking TCP socket to a server on this machine.
enum LoopbackSocket {
    /// The descriptor, which is the caller's to close; nil, with `errno` set, when nothing listens there.
    static func connected(to port: Int) -> Int32? {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        if code == 0 { return descriptor }
        let cause = errno
        close(descriptor)
        errno = cause
        return nil
    }
}
