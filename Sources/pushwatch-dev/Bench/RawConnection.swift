import CommandLineKit
import Foundation

/// A connection that is misused: kept idle, or sent a byte at a time.
///
/// `@unchecked Sendable`: used by one thread at a time.
final class RawConnection: @unchecked Sendable {
    private let descriptor: Int32

    init?(port: Int) {
        guard let descriptor = LoopbackSocket.connected(to: port) else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

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
