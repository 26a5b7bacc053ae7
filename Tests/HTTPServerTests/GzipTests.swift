import CZlib
import Foundation
import HTTPTypes
import Testing

@testable import HTTPServer

/// A gzip member with these bytes.
func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    deflateInit2_(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytes.count + 1_024)
    let produced = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            deflate(&stream, Z_FINISH)
            return output.count - Int(stream.avail_out)
        }
    }
    return Array(output[..<produced])
}

@Suite struct GzipTests {
    @Test("bytes come back as they were", arguments: [0, 1, 65_535, 65_536, 65_537, 1_000_000])
    func roundTrip(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try Gzip.inflate(gzip(bytes), limit: 1_000_000) == bytes)
    }

    @Test("several members are one body, and share one cap")
    func members() throws {
        let two = gzip([1, 2, 3]) + gzip([4, 5])
        #expect(try Gzip.inflate(two, limit: 5) == [1, 2, 3, 4, 5])
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.inflate(two, limit: 4) }
    }

    @Test("a bomb stops at the cap")
    func bomb() {
        let bomb = gzip([UInt8](repeating: 0, count: 20_000_000))
        #expect(bomb.count < 50_000)
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.inflate(bomb, limit: 16 << 20) }
    }

    @Test("where zlib gets no memory, for its state or for its window, the answer is 503 and not that the body is damaged")
    func noMemory() {
        let body = gzip((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) })
        let allocators: [alloc_func] = [
            { _, _, _ in nil },
            // The state is one item; the window, which inflate itself allocates, is many.
            { _, items, size in items == 1 ? calloc(Int(items), Int(size)) : nil },
        ]
        for allocator in allocators {
            let failure = #expect(throws: Gzip.Failure.self) { try Gzip.inflate(body, limit: 1 << 20, allocator: allocator) }
            #expect(failure == .unavailable)
            #expect(failure.map { BodyReader.problem(of: $0, limit: 1).status } == .serviceUnavailable)
        }
    }

    @Test("exactly the cap is fine")
    func exactly() throws {
        let bytes = [UInt8](repeating: 7, count: 65_536)
        #expect(try Gzip.inflate(gzip(bytes), limit: 65_536).count == 65_536)
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.inflate(gzip(bytes), limit: 65_535) }
    }

    @Test("a cut, a flipped bit and trailing bytes are refused")
    func damage() {
        let good = gzip(Array("hello, hello, hello".utf8))
        #expect(throws: Gzip.Failure.truncated) { try Gzip.inflate(Array(good.dropLast(3)), limit: 100) }
        #expect(throws: Gzip.Failure.truncated) { try Gzip.inflate([], limit: 100) }
        var flipped = good
        flipped[flipped.count - 6] ^= 1
        #expect(throws: Gzip.Failure.damaged) { try Gzip.inflate(flipped, limit: 100) }
        #expect(throws: Gzip.Failure.damaged) { try Gzip.inflate(good + Array("trailing bytes here".utf8), limit: 100) }
        #expect(throws: Gzip.Failure.damaged) { try Gzip.inflate(Array("{\"not\": \"gzip\"}".utf8), limit: 100) }
        let manyMembers = (0..<1_025).flatMap { _ in gzip([]) }
        #expect(throws: Gzip.Failure.damaged) { try Gzip.inflate(manyMembers, limit: 100) }
    }
}
