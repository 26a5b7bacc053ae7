import Postgres
import PushContract

/// Writes PostgreSQL's binary form into memory that was taken once for the whole: COPY streams and arrays, in one pass over the records.
struct PackedBytes {
    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    /// - Parameter capacity: at least as many bytes as `body` writes.
    static func build(capacity: Int, _ body: (inout PackedBytes) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            var packed = PackedBytes(buffer: UnsafeMutableRawBufferPointer(buffer))
            body(&packed)
            count = packed.count
        }
    }

    private init(buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        buffer.storeBytes(of: number.bigEndian, toByteOffset: count, as: Number.self)
        count += MemoryLayout<Number>.size
    }

    mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        precondition(count + text.count <= buffer.count)
        guard let start = text.baseAddress else { return }
        (buffer.baseAddress! + count).copyMemory(from: start, byteCount: text.count)
        count += text.count
    }

    // Fields of a COPY stream or elements of an array: a length, then the value.

    mutating func append(field key: AttemptKey) {
        append(Int32(16))
        append(key.high)
        append(key.low)
    }

    mutating func append(field moment: Timestamp) {
        append(Int32(8))
        append(moment.microseconds &- Timestamp.postgresEpoch)
    }

    mutating func append(field number: Int16) {
        append(Int32(2))
        append(number)
    }

    mutating func append(field number: Int32) {
        append(Int32(4))
        append(number)
    }

    mutating func append(field number: Int32?) {
        guard let number else { return append(Int32(-1)) }
        append(field: number)
    }

    mutating func append(field text: StaticString?) {
        guard let text else { return append(Int32(-1)) }
        append(Int32(text.utf8CodeUnitCount))
        append(UnsafeBufferPointer(text))
    }

    mutating func append(field piece: AttemptPiece, of text: UnsafeBufferPointer<UInt8>) {
        append(piece.length)
        if piece.length > 0 { append(UnsafeBufferPointer(rebasing: text[Int(piece.offset)..<Int(piece.offset) + Int(piece.length)])) }
    }

    static var copyHeaderBytes: Int { CopyStream.header.count }

    mutating func appendCopyHeader() { CopyStream.header.withUnsafeBufferPointer { append($0) } }

    static let arrayHeaderBytes = 20

    /// The head of an array of one dimension without nulls.
    mutating func appendArrayHeader(of oid: UInt32, count: Int) {
        append(Int32(1))
        append(Int32(0))
        append(oid)
        append(Int32(count))
        append(Int32(1))
    }

    /// An array of enumeration words in PostgreSQL's text form: the object ids that the binary form needs differ between databases.
    static func words(count: Int, _ word: (Int) -> StaticString?) -> [UInt8] {
        // No word is longer, and none contains a character that would need quotes.
        build(capacity: 2 + count * 24) { bytes in
            bytes.append(UInt8(ascii: "{"))
            for index in 0..<count {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.append(UnsafeBufferPointer(word(index) ?? "NULL"))
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
