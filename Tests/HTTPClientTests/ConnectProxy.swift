import Foundation
import Glibc
import Synchronization

/// A proxy for HTTP CONNECT on this machine: opens tunnels to loopback ports and carries bytes through them.
final class ConnectProxy: Sendable {
    private struct State {
        var tunnels: [String] = []
        var refused = 0
        var open: [Int32] = []
    }

    let port: Int
    private let listener: Int32
    /// `user:password`; nil lets everybody in.
    private let credentials: String?
    /// Takes connections and never answers.
    private let isSilent: Bool
    private let state = Mutex(State())

    init(credentials: String? = nil, isSilent: Bool = false) {
        self.credentials = credentials
        self.isSilent = isSilent
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let listener = listener
        port = withLoopback(port: 0) { address, length in
            var length = length
            bind(listener, address, length)
            listen(listener, 64)
            getsockname(listener, address, &length)
        }
        Thread.detachNewThread { [self] in
            while true {
                let near = accept(listener, nil, nil)
                guard near >= 0 else { break }
                state.withLock { $0.open.append(near) }
                Thread.detachNewThread { self.serve(near) }
            }
        }
    }

    /// Where tunnels were opened to, in order.
    var tunnels: [String] { state.withLock { $0.tunnels } }
    /// Tunnels that were not opened.
    var refused: Int { state.withLock { $0.refused } }

    /// Ends every tunnel. Descriptors stay allocated: a thread may still be reading from them.
    func cut() {
        state.withLock { state in
            for descriptor in state.open { Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }
            state.open = []
        }
    }

    func stop() {
        cut()
        Glibc.shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ near: Int32) {
        guard !isSilent, let head = readHead(near) else { return }
        let connections = head.split(separator: "\r\n")
        let words = connections.first?.split(separator: " ") ?? []
        guard words.count == 3, words[0] == "CONNECT", let target = words[1].split(separator: ":").last.flatMap({ Int($0) }) else {
            return answer(near, "400 Bad Request")
        }
        if let credentials {
            let expected = "proxy-authorization: basic " + Data(credentials.utf8).base64EncodedString().lowercased()
            guard connections.contains(where: { $0.lowercased() == expected }) else {
                state.withLock { $0.refused += 1 }
                return answer(near, "407 Proxy Authentication Required")
            }
        }
        let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = withLoopback(port: target) { _ = connect(far, $0, $1) }
        state.withLock { state in
            state.tunnels.append(String(words[1]))
            state.open.append(far)
        }
        write(near, "HTTP/1.1 200 Connection established\r\n\r\n")
        Thread.detachNewThread { copyBytes(from: far, to: near) }
        copyBytes(from: near, to: far)
    }

    /// Byte by byte, so that nothing of the tunnel is read.
    private func readHead(_ descriptor: Int32) -> String? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while head.suffix(4) != [13, 10, 13, 10] {
            guard head.count < 8192, recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            head.append(byte)
        }
        return String(decoding: head, as: UTF8.self)
    }

    private func answer(_ descriptor: Int32, _ status: String) {
        write(descriptor, "HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func write(_ descriptor: Int32, _ text: String) {
        var bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, &bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
