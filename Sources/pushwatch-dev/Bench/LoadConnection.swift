import CommandLineKit
import Foundation

/// One keep-alive HTTP/1.1 connection over a blocking socket, with one request under way at a time.
final class LoadConnection {
    let descriptor: Int32
    private var body: BenchBody
    private var answer: [UInt8] = []
    private var sentAt = ContinuousClock.now
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    struct Failure: Error, CustomStringConvertible { var description: String }

    init(port: Int, body: BenchBody) throws(Failure) {
        guard let descriptor = LoopbackSocket.connected(to: port) else {
            throw Failure(description: "no connection to the server: \(String(cString: strerror(errno)))")
        }
        self.body = body
        self.descriptor = descriptor
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(descriptor)
        buffer.deallocate()
    }

    var rows: Int { body.rows }

    func send(at moment: [UInt8]) throws(Failure) {
        body.renew(at: moment)
        sentAt = .now
        var sent = 0
        while sent < body.bytes.count {
            let count = body.bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            guard count > 0 else { throw Failure(description: "the server closed the connection while it was sent a request") }
            sent += count
        }
    }

    /// Takes what has come; the status and the microseconds since sending once the answer is whole.
    func receive() throws(Failure) -> (status: Int, microseconds: Int)? {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { throw Failure(description: "the server closed the connection before its answer") }
        answer.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        guard let head = headLength, answer.count >= head + contentLength(head) else { return nil }
        let status = answer[9..<12].reduce(0) { $0 * 10 + Int($1) - 48 }
        answer.removeAll(keepingCapacity: true)
        let elapsed = (ContinuousClock.now - sentAt).components
        return (status, Int(elapsed.seconds) * 1_000_000 + Int(elapsed.attoseconds / 1_000_000_000_000))
    }

    private var headLength: Int? {
        guard answer.count >= 4 else { return nil }
        for end in 3..<answer.count where answer[end] == 10 && answer[end - 1] == 13 && answer[end - 2] == 10 && answer[end - 3] == 13 {
            return end + 1
        }
        return nil
    }

    private static let lengthName = Array("content-length:".utf8)

    private func contentLength(_ head: Int) -> Int {
        let name = LoadConnection.lengthName
        for start in 0..<(head - name.count) where answer[start] | 0x20 == name[0] {
            guard name.indices.allSatisfy({ answer[start + $0] | 0x20 == name[$0] || answer[start + $0] == name[$0] }) else { continue }
            return answer[(start + name.count)..<head].drop { $0 == 32 }.prefix { (48...57).contains($0) }.reduce(0) {
                $0 * 10 + Int($1) - 48
            }
        }
        return 0
    }
}
