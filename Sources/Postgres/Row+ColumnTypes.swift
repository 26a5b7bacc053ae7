package import Foundation
package import PushContract

extension UUID: ColumnDecodable {}
extension Timestamp: ColumnDecodable {}

// `[UInt8]` is bytea; every other array is an array column.
extension Array: ColumnDecodable where Element: PostgresDecodable {
    package static func decode(from row: Row, column: Int32) throws -> [Element] {
        if Element.self == UInt8.self {
            guard let bytes = row.bytes(column) else {
                throw PostgresError(.decoding, "column \(row.name(column)) is null, bytes expected")
            }
            return Array(bytes.bindMemory(to: Element.self))
        }
        return try PostgresList<Element>.decode(from: row, column: column).elements
    }
}

extension UInt8: PostgresDecodable {
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard bytes.count == 1 else { return nil }
        self = bytes[0]
    }
}
