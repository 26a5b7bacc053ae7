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
            let (_, second) = try rows[1].decode(Int.self, String?.self)
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
            let (count, length) = try await connection.query("SELECT count(*), sum(length(name)) FROM items")[0].decode(Int.self, Int.self)
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

    private func withTable(_ body: (PostgresConnection) async throws -> Void) async throws {
        try await withDatabase(migrated: false) { pool in
            try await pool.withConnection { connection in
                try await connection.execute("CREATE TABLE items (id bigint, name text)")
                try await body(connection)
            }
        }
    }
}
