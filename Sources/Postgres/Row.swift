import CLibPQ

/// One row of a result. Columns are decoded in order, into a tuple.
package struct Row: Sendable {
    let result: ResultSet
    let index: Int32

    /// Decodes the columns in order: `row.decode((UUID, String, Int).self)`. The number of types must equal the number of columns.
    package func decode<each Column: ColumnDecodable>(_ type: (repeat each Column).Type) throws -> (repeat each Column) {
        var column: Int32 = 0
        let values = (repeat try next((each Column).self, &column))
        guard column == result.columns else {
            throw PostgresError(.decoding, "the query returns \(result.columns) columns, \(column) are decoded")
        }
        return values
    }

    /// The same for a single column. Its own function: a pack of one gives a tuple of one, which compares with nothing.
    package func decode<Column: ColumnDecodable>(_ type: Column.Type) throws -> Column {
        guard result.columns == 1 else {
            throw PostgresError(.decoding, "the query returns \(result.columns) columns, 1 is decoded")
        }
        return try Column.decode(from: self, column: 0)
    }

    /// One column, where the list of columns is made at run time.
    package func decode<Column: ColumnDecodable>(_ type: Column.Type, at index: Int) throws -> Column {
        guard (0..<result.columns).contains(Int32(index)) else {
            throw PostgresError(.decoding, "the query returns \(result.columns) columns, column \(index + 1) is decoded")
        }
        return try Column.decode(from: self, column: Int32(index))
    }

    private func next<Column: ColumnDecodable>(_ type: Column.Type, _ column: inout Int32) throws -> Column {
        defer { column += 1 }
        guard column < result.columns else {
            throw PostgresError(.decoding, "the query returns only \(result.columns) columns")
        }
        return try Column.decode(from: self, column: column)
    }

    func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(result.pointer, index, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result.pointer, index, column),
            count: Int(PQgetlength(result.pointer, index, column))
        )
    }

    func oid(_ column: Int32) -> UInt32 { PQftype(result.pointer, column) }
    func name(_ column: Int32) -> String { PQfname(result.pointer, column).map { String(cString: $0) } ?? "?" }
}

/// What a column can be decoded as: a value, an optional value, or an array of values.
package protocol ColumnDecodable {
    static func decode(from row: Row, column: Int32) throws -> Self
}

extension ColumnDecodable where Self: PostgresDecodable {
    package static func decode(from row: Row, column: Int32) throws -> Self {
        guard let bytes = row.bytes(column) else {
            throw PostgresError(.decoding, "column \(row.name(column)) is null, \(Self.self) expected")
        }
        guard let value = Self(postgres: bytes, oid: row.oid(column)) else {
            throw PostgresError(.decoding, "column \(row.name(column)) (type \(row.oid(column))) is not a \(Self.self)")
        }
        return value
    }
}

extension Optional: ColumnDecodable where Wrapped: ColumnDecodable {
    package static func decode(from row: Row, column: Int32) throws -> Self {
        row.bytes(column) == nil ? nil : try Wrapped.decode(from: row, column: column)
    }
}

extension Int16: ColumnDecodable {}
extension Int32: ColumnDecodable {}
extension Int64: ColumnDecodable {}
extension Int: ColumnDecodable {}
extension Bool: ColumnDecodable {}
extension Double: ColumnDecodable {}
extension String: ColumnDecodable {}
extension PostgresList: ColumnDecodable {}
