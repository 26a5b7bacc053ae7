/// Bytes on their way to a socket. Used on the loop's thread only.
struct OutputBuffer {
    /// Frames are gathered up to this, so that TLS makes full records of them.
    static let enough = 64 << 10
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }

    mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    mutating func removeFirst(_ count: Int) {
        start += count
        if start >= OutputBuffer.enough {
            bytes.removeFirst(start)
            start = 0
        }
    }

    /// The next bytes, at most a TLS record.
    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<min($0.count, start + 16_384)])) }
    }
}

/// Where a loop reads into. One for all its connections.
final class InputBuffer {
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    deinit { memory.deallocate() }

    func fill<Value>(_ body: (UnsafeMutableRawBufferPointer) -> Value) -> Value { body(memory) }

    func bytes<Value>(_ count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        body(UnsafeBufferPointer(rebasing: memory.bindMemory(to: UInt8.self)[..<count]))
    }
}
