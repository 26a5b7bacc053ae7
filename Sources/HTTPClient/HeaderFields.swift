/// The header fields of a request or an answer, in order, as bytes in one block: building and reading them costs no allocation for each.
///
/// Names are stored in lower case. Values are UTF-8 as given; whether HTTP allows them is checked when a request is sent.
package struct HeaderFields: Sendable, Hashable {
    struct Field: Sendable, Hashable {
        var nameLength: Int32
        var valueLength: Int32
        /// Not repeated by other requests, so that HPACK's table need not keep it (RFC 7541 §6.2.2).
        var isUnique: Bool
    }

    private(set) var bytes: [UInt8] = []
    private(set) var fields: [Field] = []

    package init() {}

    package init(_ pairs: [(String, String)]) {
        for (name, value) in pairs { append(name, value) }
    }

    /// Adds a field.
    /// - Parameter isUnique: The value differs from request to request, such as an id.
    package mutating func append(_ name: String, _ value: String, isUnique: Bool = false) {
        // A push has some 400 bytes in seven fields.
        if fields.isEmpty {
            bytes.reserveCapacity(480)
            fields.reserveCapacity(8)
        }
        let before = bytes.count
        bytes.append(contentsOf: name.utf8)
        let nameLength = bytes.count - before
        for index in before..<bytes.count where bytes[index] &- 65 < 26 { bytes[index] |= 0x20 }
        bytes.append(contentsOf: value.utf8)
        fields.append(
            Field(nameLength: Int32(nameLength), valueLength: Int32(bytes.count - before - nameLength), isUnique: isUnique)
        )
    }

    /// Adds a field, in place of those with its name, which is in lower case.
    package mutating func set(_ name: String, _ value: String) {
        if valueRange(of: name) != nil {
            let before = self
            self = HeaderFields()
            for (pair, field) in zip(before, before.fields) where pair.name != name {
                append(pair.name, pair.value, isUnique: field.isUnique)
            }
        }
        append(name, value)
    }

    /// Adds a field of a peer, whose name is in lower case already.
    mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        // An answer has some six fields.
        if fields.isEmpty {
            bytes.reserveCapacity(220)
            fields.reserveCapacity(8)
        }
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: value)
        fields.append(Field(nameLength: Int32(name.count), valueLength: Int32(value.count), isUnique: false))
    }

    /// The value of the first field with this name, in lower case.
    package subscript(_ name: String) -> String? {
        valueRange(of: name).map { range in bytes.withUnsafeBytes { String(decoding: $0[range], as: UTF8.self) } }
    }

    private func valueRange(of name: String) -> Range<Int>? {
        var name = name
        return name.withUTF8 { name in
            bytes.withUnsafeBytes { bytes in
                var offset = 0
                for field in fields {
                    let end = offset + Int(field.nameLength)
                    if Int(field.nameLength) == name.count, bytes[offset..<end].elementsEqual(name) {
                        return end..<end + Int(field.valueLength)
                    }
                    offset = end + Int(field.valueLength)
                }
                return nil
            }
        }
    }
}

/// Names and values as text.
extension HeaderFields: Sequence {
    package func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
        var offset = 0
        let pairs = fields.map { field in
            let end = offset + Int(field.nameLength)
            defer { offset = end + Int(field.valueLength) }
            return (
                name: String(decoding: bytes[offset..<end], as: UTF8.self),
                value: String(decoding: bytes[end..<end + Int(field.valueLength)], as: UTF8.self)
            )
        }
        return pairs.makeIterator()
    }
}

extension HeaderFields: ExpressibleByArrayLiteral {
    package init(arrayLiteral pairs: (String, String)...) { self.init(pairs) }
}
