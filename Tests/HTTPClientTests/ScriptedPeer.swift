import Foundation
import Glibc
import Synchronization

/// A peer that speaks raw bytes: each connection it accepts is handled by the next step of its script, on one thread.
final class ScriptedPeer: Sendable {
    typealias Step = @Sendable (PeerConnection) -> Void
    let port: Int
    private let listener: Int32
    private let accepted = Mutex(0)

    var connections: Int { accepted.withLock { $0 } }

    init(_ steps: [Step]) {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length)
                listen(listener, 16)
                getsockname(listener, $0, &length)
            }
            return Int(UInt16(bigEndian: pointer.pointee.sin_port))
        }
        Thread.detachNewThread { [self] in
            for step in steps {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                accepted.withLock { $0 += 1 }
                let connection = PeerConnection(descriptor: descriptor)
                step(connection)
                close(descriptor)
            }
            stop()
        }
    }

    /// Refuses further connections. The descriptor stays allocated, so that a late call cannot hit another socket of the same number.
    func stop() { Glibc.shutdown(listener, Int32(SHUT_RDWR)) }
}

/// One accepted connection.
final class PeerConnection: Sendable {
    let descriptor: Int32
    private let buffer = Mutex<[UInt8]>([])

    init(descriptor: Int32) { self.descriptor = descriptor }

    func write(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Exactly `count` bytes, or nil at the end.
    func read(_ count: Int) -> [UInt8]? {
        buffer.withLock { buffer in
            while buffer.count < count {
                var chunk = [UInt8](repeating: 0, count: 65536)
                let received = recv(descriptor, &chunk, chunk.count, 0)
                guard received > 0 else { return nil }
                buffer += chunk[..<received]
            }
            defer { buffer.removeFirst(count) }
            return Array(buffer[..<count])
        }
    }

    /// Until the client hangs up, so that closing with unread bytes resets nothing.
    func readToEnd() { while read(1) != nil {} }

    /// Reads an HTTP/1.1 request that ends with `end`.
    func readUntil(_ end: String) -> Bool {
        var seen: [UInt8] = []
        while !seen.suffix(end.utf8.count).elementsEqual(end.utf8) {
            guard let next = read(1) else { return false }
            seen += next
        }
        return true
    }
}

/// Just enough HTTP/2 to answer, refuse or drop a stream.
extension PeerConnection {
    /// Preface and settings; then the id of the first stream whose request is complete.
    func readHTTP2Request() -> UInt32? {
        guard read(24) != nil else { return nil }
        write(frame(type: 4, stream: 0))
        while let head = read(9) {
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard read(length) != nil else { return nil }
            let stream = UInt32(head[5]) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
            // HEADERS or DATA with END_STREAM.
            if head[3] <= 1, head[4] & 1 == 1 { return stream }
        }
        return nil
    }

    /// `:status: 200` and nothing else.
    func answer(stream: UInt32) { write(frame(type: 1, flags: 5, stream: stream, payload: [0x88])) }

    /// RST_STREAM with REFUSED_STREAM.
    func refuse(stream: UInt32) { write(frame(type: 3, stream: stream, payload: [0, 0, 0, 7])) }

    /// GOAWAY that disowns every stream.
    func goAway(lastStream: UInt32) {
        let last = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: lastStream >> $0) }
        write(frame(type: 7, stream: 0, payload: last + [0, 0, 0, 0]))
    }

    private func frame(type: UInt8, flags: UInt8 = 0, stream: UInt32, payload: [UInt8] = []) -> [UInt8] {
        let length = payload.count
        let id = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
        return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags] + id + payload
    }
}
