package import PushContract

/// The stream of a `COPY … FROM STDIN (FORMAT binary)`, one value after the other.
///
/// Takes less of the server's time than the rows as arrays: nothing is planned, and rows of one page are written together.
package struct CopyStream {
    /// From so many rows on COPY is cheaper than a statement, though it takes a round trip of its own.
    package static let minimumRows = 12

    /// The signature, no flags, no extension.
    package static let header: [UInt8] = [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    private let columns: Int16
    private var bytes = header

    /// - Parameter capacity: about how many bytes there will be.
    package init(columns: Int, capacity: Int) {
        self.columns = Int16(columns)
        bytes.reserveCapacity(capacity)
    }

    /// `columns` values have to follow, each of its column's type.
    package mutating func beginRow() { bytes.appendBigEndian(columns) }

    /// A text, or a word of an enumeration.
    package mutating func append(_ text: String?) { append(value: text) }
    package mutating func append(_ number: Int32) { append(value: number) }
    package mutating func append(_ number: Int64) { append(value: number) }
    package mutating func append(_ moment: Timestamp?) { append(value: moment) }
    package mutating func append(_ value: [UInt8]?) { append(value: value) }

    /// With its end.
    package consuming func finished() -> [UInt8] {
        bytes.appendBigEndian(Int16(-1))
        return bytes
    }

    private mutating func append(value: (some PostgresEncodable)?) {
        if let value { value.append(to: &bytes) } else { bytes.appendBigEndian(Int32(-1)) }
    }
}
