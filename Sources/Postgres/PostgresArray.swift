/// Arrays of one dimension, in PostgreSQL's binary form: dimensions, null flag, element type, length, lower bound, elements.
enum PostgresArray {
    static func encode<Element: PostgresEncodable>(_ elements: [Element?], into bytes: inout [UInt8]) {
        let hasNulls = elements.contains { $0 == nil }
        bytes.appendBigEndian(Int32(1))
        bytes.appendBigEndian(Int32(hasNulls ? 1 : 0))
        // In an array there is no inference per element: strings are text there.
        bytes.appendBigEndian(Element.oid == 0 ? 25 : Element.oid)
        bytes.appendBigEndian(Int32(elements.count))
        bytes.appendBigEndian(Int32(1))
        for element in elements {
            guard let element else {
                bytes.appendBigEndian(Int32(-1))
                continue
            }
            let start = bytes.count
            bytes.appendBigEndian(Int32(0))
            element.encode(into: &bytes)
            let length = Int32(bytes.count - start - 4)
            withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
        }
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
