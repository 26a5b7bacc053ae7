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
            try await pool.execute("INSERT INTO notes VALUES (\(attempt))")
            let rows = try await pool.query("SELECT body FROM notes WHERE body = \(attempt)")
            let stored = try rows.map { try $0.decode(String.self) }
            #expect(stored == [attempt])
        }
    }
}
