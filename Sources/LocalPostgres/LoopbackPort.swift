#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Finds TCP ports on 127.0.0.1 that nobody listens on.
package enum LoopbackPort {
    /// Any free port.
    package static func anyFree() -> Int? { bind(to: 0) }

    package static func isFree(_ port: Int) -> Bool { bind(to: UInt16(clamping: port)) != nil }

    /// Binds a socket and closes it; the number that was bound.
    private static func bind(to port: UInt16) -> Int? {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                #if canImport(Darwin)
                    let bound = Darwin.bind(descriptor, generic, length)
                #elseif canImport(Musl)
                    let bound = Musl.bind(descriptor, generic, length)
                #else
                    let bound = Glibc.bind(descriptor, generic, length)
                #endif
                guard bound == 0, getsockname(descriptor, generic, &length) == 0 else { return nil }
                return Int(UInt16(bigEndian: pointer.pointee.sin_port))
            }
        }
    }
}
