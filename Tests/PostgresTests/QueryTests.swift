import Postgres
import TestDatabase
import Testing

@Suite("Query")
struct QueryTests {
    @Test("an interpolated value is data, whatever it holds")
    func injection() async throws {
        try await withDatabase(migrated: false) { pool in
            try await pool.execute("CREATE TABLE notes (body text)")
            let attempt = "'); DROP TABLE notes; --"
            #expect(try await pool.execute("INSERT INTO notes VALUES (\(attempt))") == 1)
            let rows = try await pool.query("SELECT body FROM notes WHERE body = \(attempt)")
            let stored = try rows.map { try $0.decode(String.self) }
            #expect(stored == [attempt])
        }
    }

    @Test("a spliced query's parameters are renumbered, past nine too")
    func splicing() async throws {
        try await withDatabase(migrated: false) { pool in
            let numbers: Query = "\(1), \(2), \(3), \(4), \(5), \(6), \(7), \(8), \(9), \(10), \(11)"
            let query: Query = "SELECT ARRAY[\(0), \(numbers), \(12)]::bigint[], \("tail")::text"
            #expect(query.sql.contains("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13]"))
            let (values, tail) = try await pool.query(query)[0].decode(([Int], String).self)
            #expect(values == Array(0...12))
            #expect(tail == "tail")
        }
    }

    @Test("a zero byte in a text parameter is refused before it is sent")
    func zeroByte() async throws {
        try await withDatabase(migrated: false) { pool in
            #expect(await code { try await pool.query("SELECT \("a\u{0}b")::text") } == PostgresError.Code(rawValue: "22021"))
            #expect(await code { try await pool.query("SELECT \(["a\u{0}b"])::text[]") } == PostgresError.Code(rawValue: "22021"))
        }
    }

    @Test("the number of columns must fit, and a null needs an optional")
    func rowErrors() async throws {
        try await withDatabase(migrated: false) { pool in
            let row = try await pool.query("SELECT 1, NULL::text AS missing")[0]
            #expect(decodingFails { try row.decode(Int.self) })
            #expect(decodingFails { try row.decode((Int, String?, Int).self) })
            #expect(decodingFails { try row.decode((Int, String).self) })
            #expect(decodingFails { try row.decode((String, String?).self) })
            let (one, none) = try row.decode((Int, String?).self)
            #expect(one == 1 && none == nil)
        }
    }

    @Test("errors carry SQLSTATE, the constraint and the detail, and no parameters in what is logged")
    func errors() async throws {
        try await withDatabase(migrated: false) { pool in
            try await pool.execute("CREATE TABLE unique_notes (body text CONSTRAINT notes_once UNIQUE)")
            try await pool.execute("INSERT INTO unique_notes VALUES (\("secret"))")
            do {
                try await pool.execute("INSERT INTO unique_notes VALUES (\("secret"))")
                Issue.record("the duplicate was accepted")
            } catch let error as PostgresError {
                #expect(error.code == .uniqueViolation)
                #expect(error.constraint == "notes_once")
                #expect(error.detail?.contains("secret") == true)
                #expect(!"\(error)".contains("secret"))
                #expect(!error.isConnectionLoss && !error.isUnavailable && !error.isSerializationConflict)
            }
            #expect(await code { try await pool.query("SELECT * FROM nowhere") } == .undefinedTable)
            // The connection is usable afterwards.
            #expect(try await pool.query("SELECT 1").count == 1)
        }
    }

    @Test("options of the URL are kept together with ours")
    func urlOptions() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let connection = try await PostgresConnection.connect(
                PostgresConfiguration(url: url + "&application_name=mine&options=-c%20work_mem%3D7MB", statementTimeout: .seconds(9))
            )
            let rows = try await connection.query(
                "SELECT current_setting('work_mem'), current_setting('statement_timeout'), current_setting('application_name')"
            )
            let (memory, timeout, name) = try rows[0].decode((String, String, String).self)
            #expect(memory == "7MB" && timeout == "9s" && name == "mine")
        }
    }
}
