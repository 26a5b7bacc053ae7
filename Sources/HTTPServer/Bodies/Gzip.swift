import CZlib

/// Inflates gzip bodies (RFC 1952) under a cap, so that a small body cannot become a large one in memory.
enum Gzip {
    /// Why bytes could not be inflated.
    enum Failure: Error, Equatable {
        /// More than the cap; found while inflating, so memory never exceeds the cap by more than 64 KiB.
        case tooLarge
        case truncated
        /// Not gzip, a wrong checksum, or bytes after the end that are no further member.
        case damaged
        /// `mayGrow` has refused.
        case noSpace
        /// zlib had no memory.
        case unavailable
    }

    /// Members in one body; some tools write a member every 64 KiB; thousands are an attack.
    private static let maximumMembers = 1_024
    private static let chunk = 64 * 1_024

    /// The inflated bytes of all members, at most `limit`. `mayGrow` is asked before each further chunk is kept.
    ///
    /// - Parameter allocator: zlib's memory; nil for malloc.
    static func inflate(
        _ bytes: [UInt8],
        limit: Int,
        allocator: alloc_func? = nil,
        mayGrow: (Int) -> Bool = { _ in true }
    ) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        stream.zalloc = allocator
        return try withStream(&stream) { stream throws(Failure) in
            var output: [UInt8] = []
            output.reserveCapacity(min(limit, bytes.count * 4, 1 << 20))
            let failure: Failure? = bytes.withUnsafeBufferPointer { input in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                return run(stream, into: &output, limit: limit, mayGrow: mayGrow)
            }
            if let failure { throw failure }
            return output
        }
    }

    /// zlib keeps the address of its stream, so the stream may not move while it is open.
    private static func withStream(
        _ stream: inout z_stream,
        _ body: (UnsafeMutablePointer<z_stream>) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        try withUnsafeMutablePointer(to: &stream) { stream throws(Failure) in
            guard pushwatch_inflate_init_gzip(stream) == Z_OK else { throw .unavailable }
            defer { inflateEnd(stream) }
            return try body(stream)
        }
    }

    private static func run(
        _ stream: UnsafeMutablePointer<z_stream>,
        into output: inout [UInt8],
        limit: Int,
        mayGrow: (Int) -> Bool
    ) -> Failure? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: chunk) { scratch in
            var members = 1
            while true {
                stream.pointee.next_out = scratch.baseAddress
                stream.pointee.avail_out = UInt32(chunk)
                let status = CZlib.inflate(stream, Z_NO_FLUSH)
                let produced = chunk - Int(stream.pointee.avail_out)
                if output.count + produced > limit { return .tooLarge }
                if produced > 0, !mayGrow(produced) { return .noSpace }
                output.append(contentsOf: scratch[..<produced])
                switch status {
                case Z_OK: continue
                case Z_STREAM_END:
                    if stream.pointee.avail_in == 0 { return nil }
                    members += 1
                    guard members <= maximumMembers, inflateReset(stream) == Z_OK else { return .damaged }
                case Z_BUF_ERROR: return .truncated
                case Z_MEM_ERROR: return .unavailable
                default: return .damaged
                }
            }
        }
    }
}
