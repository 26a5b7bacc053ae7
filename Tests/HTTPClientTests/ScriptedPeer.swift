import COpenSSL
import Foundation
import Glibc
import Synchronization

/// A peer that speaks raw bytes, over TLS if it has a certificate: each connection it accepts is handled by the next step of its script, on
/// one thread.
final class ScriptedPeer: Sendable {
    typealias Step = @Sendable (PeerConnection) -> Void
    let port: Int
    private let listener: Int32
    private let accepted = Mutex(0)

    var connections: Int { accepted.withLock { $0 } }

    /// - Parameters:
    ///   - wantsClientCertificate: connections without one are refused.
    ///   - isConcurrent: a connection is accepted although the step before it has not ended.
    init(
        _ steps: [Step],
        certificate: ThrowawayCertificate? = nil,
        wantsClientCertificate: Bool = false,
        isConcurrent: Bool = false
    ) {
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
        let file = certificate?.serverFile
        Thread.detachNewThread { [self] in
            let context = file.map { PeerTLS.context($0, wantsClientCertificate: wantsClientCertificate) } ?? nil
            for step in steps {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                accepted.withLock { $0 += 1 }
                nonisolated(unsafe) let context = context
                let serve: @Sendable () -> Void = {
                    if let connection = PeerConnection(descriptor: descriptor, context: context) { step(connection) }
                    close(descriptor)
                }
                if isConcurrent { Thread.detachNewThread(serve) } else { serve() }
            }
            stop()
        }
    }

    /// Refuses further connections. The descriptor stays allocated, so that a late call cannot hit another socket of the same number.
    func stop() { Glibc.shutdown(listener, Int32(SHUT_RDWR)) }
}

/// The TLS side of a peer.
private enum PeerTLS {
    static func context(_ file: String, wantsClientCertificate: Bool) -> OpaquePointer? {
        let context = SSL_CTX_new(TLS_server_method())
        SSL_CTX_use_certificate_chain_file(context, file)
        SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM)
        if wantsClientCertificate {
            SSL_CTX_load_verify_file(context, file)
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
        SSL_CTX_set_alpn_select_cb(context, chooseHTTP2, nil)
        return context
    }
}

private func chooseHTTP2(
    _: OpaquePointer?,
    chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    length: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?,
    offeredLength: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    // The client offers `h2` alone: its length, then its name.
    chosen?.pointee = offered?.advanced(by: 1)
    length?.pointee = offered?.pointee ?? 0
    return SSL_TLSEXT_ERR_OK
}

/// One accepted connection. Used by one thread.
final class PeerConnection: @unchecked Sendable {
    let descriptor: Int32
    private var ssl: OpaquePointer?
    private var buffer: [UInt8] = []

    /// Nil if TLS was not agreed on.
    init?(descriptor: Int32, context: OpaquePointer?) {
        self.descriptor = descriptor
        guard let context else { return }
        ssl = SSL_new(context)
        SSL_set_fd(ssl, descriptor)
        guard SSL_accept(ssl) == 1 else { return nil }
    }

    deinit { SSL_free(ssl) }

    /// The client went on from an earlier TLS session.
    var isResumed: Bool { ssl.map { SSL_session_reused($0) == 1 } ?? false }

    func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if let ssl {
            _ = SSL_write(ssl, bytes, Int32(bytes.count))
        } else {
            _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// What has arrived, waiting for something; nil at the end.
    func readSome() -> [UInt8]? {
        if !buffer.isEmpty {
            defer { buffer = [] }
            return buffer
        }
        var chunk = [UInt8](repeating: 0, count: 65536)
        let received = ssl.map { Int(SSL_read($0, &chunk, Int32(chunk.count))) } ?? recv(descriptor, &chunk, chunk.count, 0)
        return received > 0 ? Array(chunk[..<received]) : nil
    }

    /// Exactly `count` bytes, or nil at the end.
    func read(_ count: Int) -> [UInt8]? {
        while buffer.count < count {
            let before = buffer
            buffer = []
            guard let more = readSome() else { return nil }
            buffer = before + more
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// Until the client's machine has what was written.
    func waitUntilReceived() {
        var unsent: Int32 = 1
        while unsent > 0, ioctl(descriptor, UInt(TIOCOUTQ), &unsent) == 0 { usleep(1000) }
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
        return nextRequest()
    }

    /// The id of the next stream whose request is complete. PINGs before it are answered.
    func nextRequest() -> UInt32? {
        while let (type, flags, stream, payload) = nextFrame() {
            if type == 6, flags & 1 == 0 { write(frame(type: 6, flags: 1, stream: 0, payload: payload)) }
            // HEADERS or DATA with END_STREAM.
            if type <= 1, flags & 1 == 1 { return stream }
        }
        return nil
    }

    /// The next frame.
    func nextFrame() -> (type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8])? {
        guard let head = read(9) else { return nil }
        guard let payload = read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])) else { return nil }
        return (head[3], head[4], UInt32(head[5]) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8]), payload)
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
}

/// A frame as bytes (RFC 9113 §4.1).
func frame(type: UInt8, flags: UInt8 = 0, stream: UInt32, payload: [UInt8] = []) -> [UInt8] {
    let length = payload.count
    let id = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
    return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags] + id + payload
}
