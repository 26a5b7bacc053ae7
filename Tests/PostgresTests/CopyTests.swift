import Postgres
import TestDatabase
import Testing

@Suite("COPY")
struct CopyTests {
    @Test("text rows go in and are counted")
    func text() async throws {
        try await withTable { connection in
            #expect(try await connection.copyIn("COPY items FROM STDIN", data: Array("1\tone\n2\t\\N\n".utf8)) == 2)
            let rows = try await connection.query("SELECT id, name FROM items ORDER BY id")
            let (_, second) = try rows[1].decode((Int, String?).self)
            #expect(second == nil)
        }
    }

    @Test("binary rows go in, more than one chunk of them")
    func binary() async throws {
        try await withTable { connection in
            let name = String(repeating: "n", count: 1000)
            var data = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0]
            data.appendBigEndian(Int64(0))
            for id in 0..<3000 {
                data.appendBigEndian(Int16(2))
                data.appendBigEndian(Int32(8))
                data.appendBigEndian(Int64(id))
                data.appendBigEndian(Int32(name.utf8.count))
                data += Array(name.utf8)
            }
            data.appendBigEndian(Int16(-1))
            #expect(try await connection.copyIn("COPY items FROM STDIN (FORMAT binary)", data: data) == 3000)
            let (count, length) = try await connection.query("SELECT count(*), sum(length(name)) FROM items")[0].decode((Int, Int).self)
            #expect(count == 3000 && length == 3_000_000)
        }
    }

    @Test("bad data is an error by SQLSTATE, nothing is stored, the connection goes on")
    func failure() async throws {
        try await withTable { connection in
            #expect(
                await code { try await connection.copyIn("COPY items FROM STDIN", data: Array("1\tone\nx\ttwo\n".utf8)) }?.rawValue
                    == "22P02"
            )
            #expect(await code { try await connection.copyIn("SELECT 1", data: []) }?.rawValue == "42601")
            #expect(await code { try await connection.copyIn("COPY nowhere FROM STDIN", data: []) } == .undefinedTable)
            let count = try await connection.query("SELECT count(*) FROM items")[0].decode(Int.self)
            #expect(count == 0)
        }
    }

    private func copyBoth(_ first: String, _ second: String, on connection: PostgresConnection) async throws -> Int {
        try await connection.perform { connection in
            try Array(first.utf8).withUnsafeBytes { first in
                try Array(second.utf8).withUnsafeBytes {
                    try connection.copyIn([("COPY items FROM STDIN", first), ("COPY others FROM STDIN", $0)])
                }
            }
        }
    }

    @Test("two in one message: each gets its stream, both are counted")
    func several() async throws {
        try await withTable { connection in
            try await connection.execute("CREATE TABLE others (word text)")
            #expect(try await copyBoth("1\tone\n2\ttwo\n", "three\n", on: connection) == 3)
            let counts = try await connection.query("SELECT (SELECT count(*) FROM items), (SELECT max(word) FROM others)")
            let (items, word) = try counts[0].decode((Int, String).self)
            #expect(items == 2 && word == "three")
        }
    }

    @Test(
        "the first error of several ends all of them, wherever it is; the connection goes on",
        arguments: [("x\tone\n", "two\n"), ("1\tone\n", "two\tcolumns\n"), ("x\tone\n", "two\tcolumns\n")]
    )
    func severalFail(first: String, second: String) async throws {
        try await withTable { connection in
            try await connection.execute("CREATE TABLE others (word text)")
            let error = await #expect(throws: PostgresError.self) { try await copyBoth(first, second, on: connection) }
            #expect(error?.code.rawValue == (first.hasPrefix("x") ? "22P02" : "22P04"))
            let count = "SELECT (SELECT count(*) FROM items) + (SELECT count(*) FROM others)" as Query
            #expect(try await connection.query(count)[0].decode(Int.self) == 0, "outside a transaction they are one")
            #expect(try await copyBoth("1\tone\n", "two\n", on: connection) == 2)
        }
    }

    @Test("inside a transaction an error leaves it to be rolled back; more or fewer COPY than streams are refused")
    func severalInTransaction() async throws {
        try await withTable { connection in
            try await connection.execute("CREATE TABLE others (word text)")
            try await connection.executeScript("BEGIN")
            #expect(await code { try await copyBoth("1\tone\n", "two\tcolumns\n", on: connection) }?.rawValue == "22P04")
            #expect(await code { try await connection.query("SELECT 1") }?.rawValue == "25P02")
            try await connection.executeScript("ROLLBACK")
            let two = "COPY items FROM STDIN; COPY others FROM STDIN"
            #expect(await code { try await connection.copyIn(two, data: Array("1\tone\n".utf8)) }?.rawValue == "42601")
            #expect(try await connection.query("SELECT count(*) FROM items")[0].decode(Int.self) == 0)
        }
    }

    private func withTable(_ body: (PostgresConnection) async throws -> Void) async throws {
        try await withDatabase(migrated: false) { pool in
            try await pool.withConnection { connection in
                try await connection.execute("CREATE TABLE items (id bigint, name text)")
                try await body(connection)
            }
        }
    }
}
