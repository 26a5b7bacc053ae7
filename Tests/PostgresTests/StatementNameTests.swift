import PushContract
import TestDatabase
import Testing

@testable import Postgres

@Suite("Names of prepared statements")
struct StatementNameTests {
    /// What the session has prepared, without this question.
    private func names(_ connection: PostgresConnection) async throws -> Set<String> {
        let ask: Query = "SELECT name FROM pg_prepared_statements"
        return Set(try await connection.query(ask).map { try $0.decode(String.self) }).subtracting([StatementKey(ask).digest])
    }

    private static let select: Query = "SELECT value FROM (VALUES (1, 'one'), (2, 'two')) AS v (key, value) WHERE key = \(1)"

    @Test("a name is a digest of the text and the types of its parameters, the same in every session")
    func digest() async throws {
        #expect(StatementKey("SELECT \(1)").digest == StatementKey("SELECT \(2)").digest, "values do not change it")
        let variants: [Query] = [
            "SELECT \(1)", "SELECT \(Int32(1))", "SELECT \("1")", "SELECT \(1), \(1)", "SELECT  \(1)", "SELECT $1", "select \(1)",
        ]
        #expect(Set(variants.map { StatementKey($0).digest }).count == variants.count)
        #expect(variants.allSatisfy { StatementKey($0).digest.utf8.count < 64 })
        try await withDatabase(migrated: false) { pool in
            try await pool.withConnection { one in
                try await pool.withConnection { other in
                    for connection in [one, other] { _ = try await connection.query(Self.select) }
                    #expect(try await names(one) == [StatementKey(Self.select).digest])
                    #expect(try await names(one) == names(other))
                }
            }
        }
    }

    @Test("a session that has the statement already is asked for it, outside a transaction at once, inside one in its second run")
    func exists() async throws {
        try await withDatabase(migrated: false, maxConnections: 1) { pool in
            let prepare = "PREPARE \(StatementKey(Self.select).digest) (bigint) AS \(Self.select.sql)"
            try await pool.withConnection { connection in
                try await connection.executeScript(prepare)
                #expect(try await connection.query(Self.select)[0].decode(String.self) == "one")
                #expect(try await names(connection).count == 1)
            }
            let other: Query = "SELECT \(7)"
            try await pool.withConnection { try await $0.executeScript("PREPARE \(StatementKey(other).digest) (bigint) AS SELECT $1") }
            var runs = 0
            let seven = try await pool.withTransaction { transaction in
                runs += 1
                return try await transaction.query(other)[0].decode(Int.self)
            }
            #expect(seven == 7 && runs == 2)
        }
    }

    @Test("a session that has lost the statement prepares it again, outside a transaction at once, inside one in its second run")
    func missing() async throws {
        try await withDatabase(migrated: false, maxConnections: 1) { pool in
            try await pool.withConnection { connection in
                _ = try await connection.query(Self.select)
                try await connection.executeScript("DEALLOCATE ALL")
                #expect(try await connection.query(Self.select)[0].decode(String.self) == "one")
                #expect(try await names(connection) == [StatementKey(Self.select).digest])
                try await connection.executeScript("DEALLOCATE ALL")
            }
            var runs = 0
            let found = try await pool.withTransaction { transaction in
                runs += 1
                return try await transaction.query(Self.select)[0].decode(String.self)
            }
            #expect(found == "one" && runs == 2)
            try await pool.withConnection { connection in
                try await connection.executeScript("DEALLOCATE ALL")
                let error = await #expect(throws: PostgresError.self) { try await connection.perform { try $0.pipeline([Self.select]) } }
                #expect(error?.code == .statementMissing)
                try await connection.perform { try $0.pipeline([Self.select]) }
            }
        }
    }

    @Test("a connection whose session loses its statements again and again goes on without names")
    func lostAgainAndAgain() async throws {
        try await withDatabase(migrated: false, maxConnections: 1) { pool in
            try await pool.withConnection { connection in
                for _ in 0..<5 {
                    #expect(try await connection.query(Self.select)[0].decode(String.self) == "one")
                    try await connection.executeScript("DEALLOCATE ALL")
                }
                _ = try await connection.query(Self.select)
                #expect(try await names(connection).isEmpty)
            }
        }
    }

    @Test("a statement that the change of a table has outdated is prepared again under the same name, inside a transaction too")
    func outdated() async throws {
        try await withDatabase(migrated: false, maxConnections: 1) { pool in
            try await pool.execute("CREATE TABLE things (id bigint)")
            let select: Query = "SELECT * FROM things"
            try await pool.withTransaction { try await $0.execute(select) }
            try await pool.execute("ALTER TABLE things ADD COLUMN name text")
            var runs = 0
            try await pool.withTransaction { transaction in
                runs += 1
                // Of the same session and already prepared: it must not be taken for lost.
                try await transaction.execute("INSERT INTO things VALUES (1)")
                try await transaction.execute(select)
            }
            #expect(runs == 2)
            let known = try await pool.withConnection { try await names($0) }
            #expect(known.contains(StatementKey(select).digest))
        }
    }
}
