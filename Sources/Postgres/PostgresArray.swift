/// Arrays of one dimension, in PostgreSQL's binary form: dimensions, null flag, element type, length, lower bound, elements.
///
/// Requirements of the protocol, so that there is a specialised one of each type: in generic code each element is a copy in a box.
extension PostgresEncodable {
    package static func encoded(_ elements: [Self]) -> [UInt8] {
        var bytes = arrayHeader(count: elements.count, hasNulls: false)
        for element in elements { element.append(to: &bytes) }
        return bytes
    }

    package static func encoded(_ elements: [Self?]) -> [UInt8] {
        var bytes = arrayHeader(count: elements.count, hasNulls: elements.contains { $0 == nil })
        for element in elements {
            if let element { element.append(to: &bytes) } else { bytes.appendBigEndian(Int32(-1)) }
        }
        return bytes
    }

    private static func arrayHeader(count: Int, hasNulls: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + 24 * count)
        bytes.appendBigEndian(Int32(1))
        bytes.appendBigEndian(Int32(hasNulls ? 1 : 0))
        // In an array there is no inference per element: strings are text there.
        bytes.appendBigEndian(oid == 0 ? 25 : oid)
        bytes.appendBigEndian(Int32(count))
        bytes.appendBigEndian(Int32(1))
        return bytes
    }

    /// With its length.
    func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.appendBigEndian(Int32(0))
        encode(into: &bytes)
        let length = UInt32(bytes.count - start - 4)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
    }
}

/// An array column read as Swift values. Nulls inside are refused; use `coalesce` in SQL where they can occur.
struct PostgresList<Element: PostgresDecodable>: PostgresDecodable {
    let elements: [Element]

    init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard bytes.count >= 12 else { return nil }
        func int32(at offset: Int) -> Int32? {
            guard offset + 4 <= bytes.count else { return nil }
            return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
        }
        guard let dimensions = int32(at: 0), let elementOID = int32(at: 8) else { return nil }
        guard dimensions == 1 else {
            if dimensions == 0 {
                elements = []
                return
            }
            return nil
        }
        guard let count = int32(at: 12), count >= 0 else { return nil }
        var offset = 20
        var read: [Element] = []
        read.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let length = int32(at: offset), length >= 0, offset + 4 + Int(length) <= bytes.count else { return nil }
            let slice = UnsafeRawBufferPointer(rebasing: bytes[(offset + 4)..<(offset + 4 + Int(length))])
            guard let element = Element(postgres: slice, oid: UInt32(bitPattern: elementOID)) else { return nil }
            read.append(element)
            offset += 4 + Int(length)
        }
        elements = read
    }
}
