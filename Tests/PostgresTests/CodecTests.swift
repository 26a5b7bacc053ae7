import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Codecs")
struct CodecTests {
    @Test("every scalar type comes back as it was bound")
    func scalars() async throws {
        try await withDatabase(migrated: false) { pool in
            for value in [Int16.min, -1, 0, Int16.max] { try await expectRoundTrip(value, "smallint", pool) }
            for value in [Int32.min, -1, 0, Int32.max] { try await expectRoundTrip(value, "integer", pool) }
            for value in [Int64.min, -1, 0, Int64.max] { try await expectRoundTrip(value, "bigint", pool) }
            for value in [Int.min, 0, Int.max] { try await expectRoundTrip(value, "bigint", pool) }
            for value in [-0.0, 1.5, .infinity, Double.leastNonzeroMagnitude, Double.greatestFiniteMagnitude] {
                try await expectRoundTrip(value, "float8", pool)
            }
            for value in [true, false] { try await expectRoundTrip(value, "boolean", pool) }
            for value in ["", "plain", "it's \"quoted\" \\ $1 %s", "žluťoučký 🐎\u{0301}", String(repeating: "x", count: 100_000)] {
                try await expectRoundTrip(value, "text", pool)
            }
            for value in [[], [0, 1, 255], [UInt8](repeating: 0, count: 100_000)] as [[UInt8]] {
                try await expectRoundTrip(value, "bytea", pool)
            }
            try await expectRoundTrip(UUID(), "uuid", pool)
        }
    }

    @Test(
        "moments keep their microseconds, before and after 2000",
        arguments: [
            0, 1, -1, 946_684_799_999_999, 946_684_800_000_000, 946_684_800_000_001, 1_770_888_600_250_001, -62_135_596_800_000_000,
            253_402_300_799_999_999,
        ] as [Int64]
    )
    func timestamps(microseconds: Int64) async throws {
        try await withDatabase(migrated: false) { pool in
            let moment = Timestamp(microseconds: microseconds)
            try await expectRoundTrip(moment, "timestamptz", pool)
            let rows = try await pool.query("SELECT (extract(epoch FROM \(moment)::timestamptz) * 1000000)::bigint")
            #expect(try rows[0].decode(Int64.self) == microseconds)
        }
    }

    @Test("infinity is no moment: an error, not a crash", arguments: ["infinity", "-infinity"])
    func infinity(text: String) async throws {
        try await withDatabase(migrated: false) { pool in
            let rows = try await pool.query("SELECT \(text)::timestamptz")
            #expect(decodingFails { try rows[0].decode(Timestamp.self) })
        }
    }

    @Test("arrays of every type come back, empty ones too")
    func arrays() async throws {
        try await withDatabase(migrated: false) { pool in
            try await expectArray([1, -2, 3] as [Int16], "smallint", pool)
            try await expectArray([1, -2, 3] as [Int32], "integer", pool)
            try await expectArray([1, -2, Int64.max] as [Int64], "bigint", pool)
            try await expectArray([] as [Int], "bigint", pool)
            try await expectArray([1.5, -0.25], "float8", pool)
            try await expectArray([true, false], "boolean", pool)
            try await expectArray(["", "a,b", "{\"x\"}", "NULL", "ž"], "text", pool)
            try await expectArray([[], [1, 2], [0]] as [[UInt8]], "bytea", pool)
            try await expectArray([UUID(), UUID()], "uuid", pool)
            try await expectArray([Timestamp(microseconds: -1), Timestamp(seconds: 1_770_888_600)], "timestamptz", pool)
        }
    }

    @Test("NULL binds and reads as nil, alone and inside an array")
    func nulls() async throws {
        try await withDatabase(migrated: false) { pool in
            let none: String? = nil
            let number: Int? = nil
            let rows = try await pool.query(
                "SELECT \(none)::text, \(number)::bigint, \(["a", nil, "c"] as [String?])::text[] IS NOT DISTINCT FROM ARRAY['a', NULL, 'c']"
            )
            let (text, int, same) = try rows[0].decode((String?, Int?, Bool).self)
            #expect(text == nil)
            #expect(int == nil)
            #expect(same)
        }
    }

    @Test("a string binds to jsonb and to an enum, and reads back from them")
    func textual() async throws {
        try await withDatabase(migrated: false) { pool in
            try await pool.execute("CREATE TYPE mood AS ENUM ('fine', 'bad')")
            let rows = try await pool.query("SELECT \("{\"a\": [1, null]}")::jsonb, \("bad")::mood, \(["bad", "fine"])::text[]::mood[]")
            let (json, mood, moods) = try rows[0].decode((String, String, [String]).self)
            #expect(json == "{\"a\": [1, null]}")
            #expect(mood == "bad")
            #expect(moods == ["bad", "fine"])
        }
    }

    @Test(
        "only integers decode as integers, only texts as strings",
        arguments: [
            "now()", "'abcd'::text", "1.5::float8", "'12345678'::text", "current_date", "true",
        ]
    )
    func otherTypesAreNoIntegers(expression: String) async throws {
        try await withDatabase(migrated: false) { pool in
            let rows = try await pool.query("SELECT \(raw: expression)")
            #expect(decodingFails { try rows[0].decode(Int.self) })
        }
    }

    @Test("a number too wide for its type is refused")
    func narrowing() async throws {
        try await withDatabase(migrated: false) { pool in
            let rows = try await pool.query("SELECT 70000")
            #expect(decodingFails { try rows[0].decode(Int16.self) })
            #expect(try rows[0].decode(Int64.self) == 70000)
        }
    }

    private func expectRoundTrip<Value: PostgresEncodable & ColumnDecodable & Equatable>(
        _ value: Value,
        _ type: String,
        _ pool: PostgresPool
    ) async throws {
        let rows = try await pool.query("SELECT \(value)::\(raw: type)")
        let back = try rows[0].decode(Value.self)
        #expect(back == value)
    }

    private func expectArray<Value: PostgresCodable & Equatable>(_ values: [Value], _ type: String, _ pool: PostgresPool) async throws {
        let rows = try await pool.query("SELECT \(values)::\(raw: type)[], cardinality(\(values)::\(raw: type)[])")
        let (back, count) = try rows[0].decode(([Value], Int).self)
        #expect(back == values)
        #expect(count == values.count)
    }
}

/// Whether `body` throws the error for columns that do not hold what is decoded.
func decodingFails<T>(_ body: () throws -> T) -> Bool {
    do {
        _ = try body()
        return false
    } catch {
        return (error as? PostgresError)?.code == .decoding
    }
}

/// The code of the PostgresError that `body` throws; nil when it throws none.
func code<T>(of body: () async throws -> T) async -> PostgresError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? PostgresError)?.code
    }
}
