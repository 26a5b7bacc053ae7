import Foundation
import Glibc
import Synchronization

/// Carries bytes between a client and a local server, until the line is cut. Connections made after a cut work again.
final class CuttableRelay: Sendable {
    let port: Int
    private let listener: Int32
    private let open = Mutex<[Int32]>([])
    /// Ends when the first of the silent connections was accepted.
    let silentConnection: AsyncStream<Void>

    /// - Parameter silent: how many connections are accepted and never answered, before any is carried.
    init(to target: Int, silent: Int = 0) {
        let (silentConnection, announce) = AsyncStream<Void>.makeStream()
        self.silentConnection = silentConnection
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let listener = listener
        port = withLoopback(port: 0) { address, length in
            var length = length
            bind(listener, address, length)
            listen(listener, 16)
            getsockname(listener, address, &length)
        }
        Thread.detachNewThread { [self] in
            var silent = silent
            while true {
                let near = accept(listener, nil, nil)
                guard near >= 0 else { break }
                if silent > 0 {
                    silent -= 1
                    open.withLock { $0.append(near) }
                    announce.finish()
                    continue
                }
                let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                _ = withLoopback(port: target) { connect(far, $0, $1) }
                open.withLock { $0 += [near, far] }
                Thread.detachNewThread { copyBytes(from: near, to: far) }
                Thread.detachNewThread { copyBytes(from: far, to: near) }
            }
        }
    }

    /// Ends every connection. Descriptors stay allocated: a thread may still be reading from them.
    func cut() {
        open.withLock { open in
            for descriptor in open { Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }
            open = []
        }
    }

    func stop() {
        cut()
        Glibc.shutdown(listener, Int32(SHUT_RDWR))
    }
}

/// Calls `body` with 127.0.0.1 and this port; returns the port the address holds afterwards.
func withLoopback(port: Int, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Void) -> Int {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    return Int(UInt16(bigEndian: address.sin_port))
}

func copyBytes(from source: Int32, to sink: Int32) {
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = recv(source, &chunk, chunk.count, 0)
        guard count > 0, send(sink, chunk, count, Int32(MSG_NOSIGNAL)) == count else { break }
    }
    Glibc.shutdown(sink, Int32(SHUT_RDWR))
}
