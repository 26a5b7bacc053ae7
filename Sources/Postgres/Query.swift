/// SQL text with its parameters. Interpolating a value binds it, so a value cannot be concatenated by accident.
///
///     let query: Query = "SELECT status FROM pushSends WHERE sendId = \(sendId) AND queue = ANY(\(queues))"
///
/// `\(raw:)` splices text as it is, for names that cannot be parameters.
package struct Query: Sendable, ExpressibleByStringInterpolation {
    /// One bound value.
    package struct Parameter: Sendable {
        var oid: UInt32
        /// nil = NULL.
        var bytes: [UInt8]?
        var isBinary: Bool

        /// A value in PostgreSQL's binary form.
        package static func binary(_ bytes: [UInt8], oid: UInt32) -> Parameter { Parameter(oid: oid, bytes: bytes, isBinary: true) }

        /// A value in PostgreSQL's text form, of whatever type the statement gives it.
        package static func text(_ bytes: [UInt8]) -> Parameter { Parameter(oid: 0, bytes: bytes, isBinary: false) }

        /// NULL; `oid` 0 where the statement determines the type.
        package static func null(oid: UInt32) -> Parameter { Parameter(oid: oid, bytes: nil, isBinary: oid != 0) }

        package static func value(_ value: some PostgresEncodable) -> Parameter { Parameter(value) }

        /// An array without nulls.
        package static func value<Value: PostgresEncodable>(list: [Value]) -> Parameter {
            .binary(Value.encoded(list), oid: Value.arrayOID)
        }
    }

    package var sql: String
    package var parameters: [Parameter]

    package init(stringLiteral value: String) {
        sql = value
        parameters = []
    }

    package init(stringInterpolation: StringInterpolation) {
        sql = stringInterpolation.sql
        parameters = stringInterpolation.parameters
    }

    /// Fixed text with `$1`, `$2` … and parameters that are in their wire form already: for statements that run all the time.
    package init(_ sql: StaticString, _ parameters: [Parameter]) {
        self.sql = "\(sql)"
        self.parameters = parameters
    }

    /// Text from a `.sql` file, with no parameters.
    package init(text: String) {
        sql = text
        parameters = []
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        var sql = ""
        var parameters: [Parameter] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            sql.reserveCapacity(literalCapacity + interpolationCount * 3)
            parameters.reserveCapacity(interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { sql += literal }

        package mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value) {
            append(Parameter(value))
        }

        package mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            append(value.map { Parameter($0) } ?? Parameter(oid: Value.oid, bytes: nil, isBinary: Value.oid != 0))
        }

        package mutating func appendInterpolation<Value: PostgresEncodable>(_ values: [Value]) {
            appendInterpolation(binary: Value.encoded(values), oid: Value.arrayOID)
        }

        package mutating func appendInterpolation<Value: PostgresEncodable>(_ values: [Value?]) {
            appendInterpolation(binary: Value.encoded(values), oid: Value.arrayOID)
        }

        /// Bytes bind as `bytea`, not as an array of integers.
        package mutating func appendInterpolation(_ bytes: [UInt8]) {
            append(Parameter(oid: 17, bytes: bytes, isBinary: true))
        }

        /// A parameter already in PostgreSQL's binary form, such as an array built column by column.
        package mutating func appendInterpolation(binary bytes: [UInt8], oid: UInt32) {
            append(Parameter(oid: oid, bytes: bytes, isBinary: true))
        }

        /// An array whose type the statement gives it, such as `\(words: statuses)::pushStatus[]`: without a cast from text, which a
        /// distributed UPDATE does not take.
        package mutating func appendInterpolation(words: [String?]) {
            let items = words.map { word in
                word.map { "\"" + $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" } ?? "NULL"
            }
            append(.text(Array("{\(items.joined(separator: ","))}".utf8)))
        }

        /// Splices text as it is. Never with anything a caller sent.
        package mutating func appendInterpolation(raw text: String) { sql += text }

        /// Splices another query with its parameters, renumbered.
        package mutating func appendInterpolation(_ other: Query) {
            sql += parameters.isEmpty ? other.sql : other.sql.withParameters(upTo: other.parameters.count, after: parameters.count)
            parameters += other.parameters
        }

        private mutating func append(_ parameter: Parameter) {
            parameters.append(parameter)
            sql += "$\(parameters.count)"
        }
    }
}

extension Query {
    /// A subquery for each, instead of a lateral one with a limit, which distributed tables do not have.
    package static func together(_ queries: [Query]) -> Query {
        queries.dropFirst().reduce(queries.first.map { "(\($0))" } ?? "") { "\($0) UNION ALL (\($1))" }
    }
}

extension Query.Parameter {
    init<Value: PostgresEncodable>(_ value: Value) {
        var encoded: [UInt8] = []
        value.encode(into: &encoded)
        self.init(oid: Value.oid, bytes: encoded, isBinary: Value.oid != 0)
    }
}

extension String {
    /// `$1`, `$2` … `$count` with those of `others` before them.
    fileprivate func withParameters(upTo count: Int, after others: Int) -> String {
        let old = Array(utf8)
        var new: [UInt8] = []
        new.reserveCapacity(old.count + count)
        var position = 0
        while position < old.count {
            new.append(old[position])
            position += 1
            guard new.last == UInt8(ascii: "$") else { continue }
            let digits = old[position...].prefix { (0x30...0x39).contains($0) }
            guard let number = Int(String(decoding: digits, as: UTF8.self)), (1...max(1, count)).contains(number) else { continue }
            new += "\(number + others)".utf8
            position = digits.endIndex
        }
        return String(decoding: new, as: UTF8.self)
    }
}
