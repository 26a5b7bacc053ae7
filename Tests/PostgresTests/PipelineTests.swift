import Postgres
import TestDatabase
import Testing

@Suite("Statements sent together")
struct PipelineTests {
    private func withItems(_ body: (PostgresConnection) async throws -> Void) async throws {
        try await withDatabase { pool in
            try await pool.withConnection { connection in
                try await connection.executeScript("CREATE TABLE items (id integer PRIMARY KEY, name text)")
                try await body(connection)
            }
        }
    }

    private func count(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM items")[0].decode(Int.self)
    }

    @Test("outside a transaction they are one: all of them, or after an error none, and the connection goes on")
    func allOrNone() async throws {
        try await withItems { connection in
            try await connection.perform { connection in
                try connection.pipeline((1...20).map { "INSERT INTO items VALUES (\($0), \("n")) " })
            }
            #expect(try await count(connection) == 20)
            let error = await #expect(throws: PostgresError.self) {
                try await connection.perform { connection in
                    try connection.pipeline([
                        "INSERT INTO items VALUES (\(21), \("n"))", "INSERT INTO items VALUES (\(7), \("n"))",
                        "INSERT INTO items VALUES (\(22), \("n"))",
                    ])
                }
            }
            #expect(error?.code == .uniqueViolation)
            #expect(try await count(connection) == 20)
            try await connection.perform { #expect($0.isIdle && $0.isHealthy) }
            try await connection.perform { try $0.pipeline(["INSERT INTO items VALUES (\(23), \("n"))"]) }
            #expect(try await count(connection) == 21)
        }
    }

    @Test("inside a transaction they belong to it")
    func inside() async throws {
        try await withItems { connection in
            try await connection.perform { connection in
                try connection.pipeline(["BEGIN", "INSERT INTO items VALUES (\(1), \("n"))"])
                #expect(!connection.isIdle)
                try connection.executeScript("ROLLBACK")
            }
            #expect(try await count(connection) == 0)
        }
    }

    @Test("a statement whose table has changed fails once and is prepared anew")
    func changedTable() async throws {
        try await withItems { connection in
            let select: Query = "SELECT * FROM items WHERE id = \(1)"
            try await connection.perform { try $0.pipeline([select]) }
            try await connection.executeScript("ALTER TABLE items ADD COLUMN size integer")
            let error = await #expect(throws: PostgresError.self) { try await connection.perform { try $0.pipeline([select]) } }
            #expect(error?.code == .cachedPlanChanged)
            try await connection.perform { try $0.pipeline([select]) }
        }
    }

    @Test("a session that is ended meanwhile is a lost connection, not a hang")
    func lost() async throws {
        try await withItems { connection in
            let error = await #expect(throws: PostgresError.self) {
                try await connection.perform { try $0.pipeline(["SELECT pg_terminate_backend(pg_backend_pid())", "SELECT 1"]) }
            }
            #expect(error?.isConnectionLoss == true)
            try await connection.perform { #expect(!$0.isHealthy) }
        }
    }
}
