package import Foundation
package import PushContract

/// A value that can be bound as a parameter, in PostgreSQL's binary form.
package protocol PostgresEncodable: Sendable {
    /// The type's object id; 0 lets the server infer it (the value then goes as text).
    static var oid: UInt32 { get }
    /// The object id of an array of this type.
    static var arrayOID: UInt32 { get }
    /// Appends the binary form (text for oid 0).
    func encode(into bytes: inout [UInt8])
    /// The binary form of an array.
    static func encoded(_ elements: [Self]) -> [UInt8]
    static func encoded(_ elements: [Self?]) -> [UInt8]
}

/// A value that can be read from a binary result column.
package protocol PostgresDecodable: Sendable {
    init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32)
}

package typealias PostgresCodable = PostgresEncodable & PostgresDecodable

extension [UInt8] {
    /// Appends an integer in network byte order.
    package mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

extension UnsafeRawBufferPointer {
    /// The whole buffer as an integer in network byte order.
    func bigEndian<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        count == MemoryLayout<T>.size ? T(bigEndian: loadUnaligned(as: T.self)) : nil
    }

    /// smallint, integer, bigint or an object id, widened. Other types of the same length (a date, four letters) are no integers.
    func integer(oid: UInt32) -> Int64? {
        switch oid {
        case 20: bigEndian(Int64.self)
        case 23: bigEndian(Int32.self).map(Int64.init)
        case 21: bigEndian(Int16.self).map(Int64.init)
        case 26: bigEndian(UInt32.self).map(Int64.init)
        default: nil
        }
    }
}

extension Int16: PostgresCodable {
    package static var oid: UInt32 { 21 }
    package static var arrayOID: UInt32 { 1005 }
    package func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard let value = bytes.integer(oid: oid), let narrow = Int16(exactly: value) else { return nil }
        self = narrow
    }
}

extension Int32: PostgresCodable {
    package static var oid: UInt32 { 23 }
    package static var arrayOID: UInt32 { 1007 }
    package func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard let value = bytes.integer(oid: oid), let narrow = Int32(exactly: value) else { return nil }
        self = narrow
    }
}

extension Int64: PostgresCodable {
    package static var oid: UInt32 { 20 }
    package static var arrayOID: UInt32 { 1016 }
    package func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard let value = bytes.integer(oid: oid) else { return nil }
        self = value
    }
}

extension Int: PostgresCodable {
    package static var oid: UInt32 { 20 }
    package static var arrayOID: UInt32 { 1016 }
    package func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(Int64(self)) }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard let value = bytes.integer(oid: oid) else { return nil }
        self = Int(value)
    }
}

extension Bool: PostgresCodable {
    package static var oid: UInt32 { 16 }
    package static var arrayOID: UInt32 { 1000 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard oid == Bool.oid, bytes.count == 1 else { return nil }
        self = bytes[0] != 0
    }
}

extension Double: PostgresCodable {
    package static var oid: UInt32 { 701 }
    package static var arrayOID: UInt32 { 1022 }
    package func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(bitPattern) }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        switch oid {
        case 701:
            guard let bits = bytes.bigEndian(UInt64.self) else { return nil }
            self = Double(bitPattern: bits)
        case 700:
            guard let bits = bytes.bigEndian(UInt32.self) else { return nil }
            self = Double(Float(bitPattern: bits))
        default: return nil
        }
    }
}

extension String: PostgresCodable {
    // Left to the server, so that a string binds to text, enums, and anything with a text form alike.
    package static var oid: UInt32 { 0 }
    package static var arrayOID: UInt32 { 1009 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        // jsonb's binary form is a version byte and the text.
        let text = oid == 3802 ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) : bytes
        guard !isBinaryOnly(oid), let string = String(validating: text, as: UTF8.self) else { return nil }
        self = string
    }
}

/// Types whose binary form is not text; decoding one as a string is a mistake of the caller's.
private func isBinaryOnly(_ oid: UInt32) -> Bool {
    switch oid {
    case 16, 17, 20, 21, 23, 26, 700, 701, 1082, 1083, 1114, 1184, 1186, 1700, 2950: true
    default: false
    }
}

extension [UInt8]: PostgresCodable {
    package static var oid: UInt32 { 17 }
    package static var arrayOID: UInt32 { 1001 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) { self = Array(bytes) }
}

extension UUID: PostgresCodable {
    package static var oid: UInt32 { 2950 }
    package static var arrayOID: UInt32 { 2951 }
    package func encode(into bytes: inout [UInt8]) { withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) } }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard oid == 2950, bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

// `Timestamp` (with the arithmetic of `Duration`) is all that this target uses of PushContract: columns and moments of the contract have
// the same precision, and a second type would be converted at every query.
extension Timestamp: PostgresCodable {
    /// Microseconds between 1970 and PostgreSQL's epoch, 2000-01-01.
    package static let postgresEpoch: Int64 = 946_684_800_000_000

    package static var oid: UInt32 { 1184 }
    package static var arrayOID: UInt32 { 1185 }
    package func encode(into bytes: inout [UInt8]) {
        // The ends of the range are PostgreSQL's infinities.
        let (value, overflow) = microseconds.subtractingReportingOverflow(Timestamp.postgresEpoch)
        bytes.appendBigEndian(overflow ? Int64.min : value)
    }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard oid == 1184 || oid == 1114, let value = bytes.bigEndian(Int64.self) else { return nil }
        let (microseconds, overflow) = value.addingReportingOverflow(Timestamp.postgresEpoch)
        // 'infinity' and '-infinity' are no moments.
        guard !overflow, value != .min else { return nil }
        self.init(microseconds: microseconds)
    }
}
